// Index expressions as multivariate polynomials with integer coefficients over symbols such as
// "threadIdx.x", "blockDim.x", "K" or a loop variable. Strides, footprints, reuse and coalescing
// are read off the coefficients. Arithmetic is over the mathematical integers: index computations
// are taken not to wrap.
#pragma once

#include "source/ir.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::source {

// A product of symbols, sorted, with repetition; empty: the constant term.
using Monomial = std::vector<std::string>;

class Polynomial {
 public:
  Polynomial() = default;
  explicit Polynomial(std::int64_t constant);
  [[nodiscard]] static Polynomial symbol(const std::string& name);

  [[nodiscard]] Polynomial operator+(const Polynomial& other) const;
  [[nodiscard]] Polynomial operator-(const Polynomial& other) const;
  [[nodiscard]] Polynomial operator*(const Polynomial& other) const;
  bool operator==(const Polynomial&) const = default;

  [[nodiscard]] const std::map<Monomial, std::int64_t>& terms() const { return terms_; }
  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  // The value when no symbol occurs.
  [[nodiscard]] std::optional<std::int64_t> constant() const;
  [[nodiscard]] std::set<std::string> symbols() const;
  [[nodiscard]] bool mentions(const std::string& name) const;

  // Returns q with *this = q * name + rest where rest does not mention `name`; nothing when `name`
  // occurs squared or higher.
  [[nodiscard]] std::optional<Polynomial> coefficient(const std::string& name) const;
  // The terms that mention none of `names`.
  [[nodiscard]] Polynomial without(const std::set<std::string>& names) const;
  [[nodiscard]] Polynomial substitute(const std::string& name, const Polynomial& value) const;

 private:
  void add_term(const Monomial& monomial, std::int64_t coefficient);
  std::map<Monomial, std::int64_t> terms_;  // no zero coefficients
};

// What a name stands for: a polynomial, or nothing when it cannot be one.
using SymbolMeaning = std::function<std::optional<Polynomial>(const std::string& name)>;

// Returns the polynomial of an integer expression. Variables and builtins are looked up through
// `meaning`; + - * unary minus, casts between integers and shifts by constants are followed.
// Quotients and remainders of one division are followed as far as they make the dividend again:
// (i / n) * n + i % n is i. Anything else yields nothing.
[[nodiscard]] std::optional<Polynomial> to_polynomial(const ExprPtr& expr,
                                                      const SymbolMeaning& meaning);

// The same with quotients as symbols of their own, named after what is divided: i / n is the symbol
// "(i / n)", i % n the polynomial i - n * (i / n). Such a symbol may follow threads and loops,
// though it has another name: for putting polynomials together only, before without_quotients.
[[nodiscard]] std::optional<Polynomial> to_polynomial_with_quotients(const ExprPtr& expr,
                                                                     const SymbolMeaning& meaning);
// q of dividend = divisor * q; nothing where there is none.
[[nodiscard]] std::optional<Polynomial> exact_quotient(Polynomial dividend,
                                                       const Polynomial& divisor);

// Whether the symbol is a quotient, and then the names that it is made of.
[[nodiscard]] bool is_quotient(const std::string& symbol);
[[nodiscard]] std::set<std::string> names_in_quotient(const std::string& symbol);
// The polynomial itself, nothing where it holds a quotient.
[[nodiscard]] std::optional<Polynomial> without_quotients(std::optional<Polynomial> polynomial);

// Returns an expression for the polynomial; builtins are cast to int (long long when `wide`), so
// the value is signed and, when wide, 64-bit.
[[nodiscard]] ExprPtr to_expression(const Polynomial& polynomial, bool wide = false);

}  // namespace regraph::source
