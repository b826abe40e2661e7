// What follows from conditions that hold: proofs of inequalities between index polynomials.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"
#include "source/polynomial.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// The polynomial that is not negative exactly where the comparison (< <= > >=) of integers holds;
// nothing for other expressions. Taken over the mathematical integers.
[[nodiscard]] std::optional<source::Polynomial> slack_of(const source::ExprPtr& comparison,
                                                         const source::Analysis& analysis);
// The same with the sides as `polynomial_of` reads them.
using PolynomialReader = std::function<std::optional<source::Polynomial>(const source::ExprPtr&)>;
[[nodiscard]] std::optional<source::Polynomial> slack_of(const source::ExprPtr& comparison,
                                                         const PolynomialReader& polynomial_of);

// Whether the comparison is one of unsigned numbers, or may be.
[[nodiscard]] bool compares_unsigned(const source::ExprPtr& comparison);

// Facts and what they imply. Symbols of builtins are never negative. A proof is looked for by
// adding multiples of facts, so not all that is true is proved; what is proved is true. Not
// thread-safe while facts are added.
class Inequalities {
 public:
  // Notes what the symbol is, in everything that is noted or asked later.
  void set_value(const std::string& symbol, std::int64_t value);
  // Notes that the polynomial is not negative.
  void add(source::Polynomial not_negative);
  // Notes that the symbol is not negative.
  void add_symbol(const std::string& symbol);
  // Notes what the condition says, where it is a comparison or a conjunction of such.
  void add_condition(const source::ExprPtr& condition, const source::Analysis& analysis);
  // Notes the bounds of a loop's counter, for its body.
  void add_loop(const source::CountedLoop& loop, const source::Analysis& analysis);

  // Whether the polynomial is never negative.
  [[nodiscard]] bool proves(const source::Polynomial& not_negative) const;
  // Whether the comparison always holds, unsigned arithmetic included.
  [[nodiscard]] bool proves(const source::ExprPtr& comparison,
                            const source::Analysis& analysis) const;
  // Whether the comparison never holds, unsigned arithmetic included.
  [[nodiscard]] bool refutes(const source::ExprPtr& comparison,
                             const source::Analysis& analysis) const;
  // Whether no value of the symbol is negative.
  [[nodiscard]] bool is_nonnegative(const std::string& symbol) const;

 private:
  // Whether the value is not negative: proved, or a product of parameters, which are numbers of
  // things where they are compared as unsigned.
  [[nodiscard]] bool is_known_size(const source::ExprPtr& expr,
                                   const source::Analysis& analysis) const;
  // Whether both sides have the values that they have over the mathematical integers.
  [[nodiscard]] bool is_exact(const source::ExprPtr& comparison,
                              const source::Analysis& analysis) const;
  [[nodiscard]] bool search(const source::Polynomial& wanted, int depth) const;

  [[nodiscard]] source::Polynomial with_values(source::Polynomial polynomial) const;

  std::map<std::string, std::int64_t> values_;
  std::vector<source::Polynomial> facts_;
  std::vector<source::ExprPtr> conditions_;  // comparisons as they were noted
  std::set<std::string> nonnegative_;
};

}  // namespace regraph::rewrite
