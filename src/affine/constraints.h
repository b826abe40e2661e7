// What follows from conditions that hold: proofs of inequalities between index polynomials, and
// between which ends they lie.
#pragma once

#include "affine/ir.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::affine {

// The polynomial that is not negative exactly where the comparison (< <= > >=) of integers holds;
// nothing for other expressions. Taken over the mathematical integers.
[[nodiscard]] std::optional<Polynomial> slack_of(const ExprPtr& comparison,
                                                 const Analysis& analysis);
// The same with the sides as `polynomial_of` reads them.
using PolynomialReader = std::function<std::optional<Polynomial>(const ExprPtr&)>;
[[nodiscard]] std::optional<Polynomial> slack_of(const ExprPtr& comparison,
                                                 const PolynomialReader& polynomial_of);

// Whether the comparison is one of unsigned numbers, or may be.
[[nodiscard]] bool compares_unsigned(const ExprPtr& comparison);

// Facts and what they imply. Symbols of builtins are never negative. A proof is looked for by
// adding multiples of facts, so not all that is true is proved; what is proved is true. Not
// thread-safe while facts are added.
class Constraints {
 public:
  // Notes what the symbol is, in everything that is noted or asked later.
  void set_value(const std::string& symbol, std::int64_t value);
  // Notes that the polynomial is not negative.
  void add(Polynomial not_negative);
  // Notes that the symbol is not negative.
  void add_symbol(const std::string& symbol);
  // Notes between which ends the symbol lies, for extreme() alone. Ends may mention symbols that
  // have a range, too: those of inner loops do. A symbol with two different ranges has none.
  void add_range(const std::string& symbol, Polynomial low, Polynomial high);
  // Notes that the symbol has a range that is not known, whatever add_range says of it.
  void add_unknown_range(const std::string& symbol);
  // Notes what the condition says, where it is a comparison or a conjunction of such.
  void add_condition(const ExprPtr& condition, const Analysis& analysis);
  // Notes the bounds of a loop's counter, for its body.
  void add_loop(const CountedLoop& loop, const Analysis& analysis);

  // Whether the polynomial is never negative.
  [[nodiscard]] bool proves(const Polynomial& not_negative) const;
  // The largest (or smallest) value over the ranges of all symbols that have one, in the symbols
  // that are left; nothing where the polynomial is not linear in one of them, or a sign or range is
  // not known.
  [[nodiscard]] std::optional<Polynomial> extreme(Polynomial value, bool largest) const;
  // Whether the comparison always holds, unsigned arithmetic included.
  [[nodiscard]] bool proves(const ExprPtr& comparison, const Analysis& analysis) const;
  // Whether the comparison never holds, unsigned arithmetic included.
  [[nodiscard]] bool refutes(const ExprPtr& comparison, const Analysis& analysis) const;
  // Whether no value of the symbol is negative.
  [[nodiscard]] bool is_nonnegative(const std::string& symbol) const;

 private:
  // Whether the value is not negative: proved, or a product of parameters, which are numbers of
  // things where they are compared as unsigned.
  [[nodiscard]] bool is_known_size(const ExprPtr& expr, const Analysis& analysis) const;
  [[nodiscard]] bool is_remainder_below(const ExprPtr& comparison, const Analysis& analysis) const;
  // Whether both sides have the values that they have over the mathematical integers.
  [[nodiscard]] bool is_exact(const ExprPtr& comparison, const Analysis& analysis) const;
  [[nodiscard]] bool search(const Polynomial& wanted, int depth) const;

  [[nodiscard]] Polynomial with_values(Polynomial polynomial) const;
  // 1 where the polynomial is never negative, -1 where it is never positive, nothing else.
  [[nodiscard]] std::optional<int> sign_of(const Polynomial& value) const;

  struct Range {
    Polynomial low;
    Polynomial high;
    bool is_known = true;
  };

  std::map<std::string, std::int64_t> values_;
  std::vector<Polynomial> facts_;
  std::vector<ExprPtr> conditions_;  // comparisons as they were noted
  std::set<std::string> nonnegative_;
  std::map<std::string, Range> ranges_;
};

}  // namespace regraph::affine
