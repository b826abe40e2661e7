// What guards compare, as numbers that threads and loops move. Used by interior.h.
#pragma once

#include "kernel/launch_plan.h"
#include "source/analysis.h"
#include "source/ir.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

// left order right, over the mathematical integers.
struct GuardTerm {
  source::Polynomial left;
  source::Polynomial right;
  source::BinaryOperator order;
  bool is_wide;      // compared in 64 bits
  bool is_unsigned;  // compared without signs
};

// Guards of a kernel with one way out. The arguments must outlive it.
class GuardTerms {
 public:
  // With `of_blocks`, threads' indices are what extreme() goes over, as loops' counters are.
  GuardTerms(const source::Kernel& kernel, const source::Analysis& analysis, const Dim3& block,
             bool of_blocks);

  // What has to hold for the comparison to hold: its own order; for !=, the side of the other
  // number on which the inside is: above a constant, below a size. Nothing for other expressions,
  // and where what is compared may not be its polynomial.
  [[nodiscard]] std::optional<GuardTerm> term_of(const source::Expr& condition) const;

  // Whether it mentions what extreme() goes over.
  [[nodiscard]] bool varies(const source::Polynomial& value) const;
  // Whether it may be another number for another thread or iteration.
  [[nodiscard]] bool depends_on_threads(const source::Polynomial& value) const;
  // The largest (or smallest) value over all iterations; nothing where the sign of a coefficient is
  // not known.
  [[nodiscard]] std::optional<source::Polynomial> extreme(source::Polynomial value,
                                                          bool largest) const;
  // difference order 0 as code that may stand in front of the kernel's, with what is subtracted on
  // the right. Signed, whatever the parameters are.
  [[nodiscard]] source::ExprPtr ordered(const source::Polynomial& difference,
                                        source::BinaryOperator order, bool wide) const;

 private:
  // low <= symbol <= high
  struct Ends {
    source::Polynomial low;
    source::Polynomial high;
  };

  void note_loop(const source::Stmt& stmt);
  [[nodiscard]] bool loses_bits(const source::ExprPtr& expr, bool wide) const;
  [[nodiscard]] std::optional<source::BinaryOperator> order_of(
      source::BinaryOperator op, const source::Polynomial& left,
      const source::Polynomial& right) const;
  [[nodiscard]] std::optional<source::Polynomial> polynomial(const source::ExprPtr& expr) const;
  [[nodiscard]] source::ExprPtr spelt_out(const source::ExprPtr& expr) const;
  [[nodiscard]] bool is_own_name(const std::string& name) const;
  [[nodiscard]] bool is_made_of_parameters(const std::string& name) const;
  [[nodiscard]] bool is_inside(const std::string& name, const std::string& other) const;

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  const Dim3& block_;
  std::map<std::string, Ends> ends_;
  std::set<std::string> unknown_;
};

// Whether the polynomial is made of builtins and numbers that are not negative.
[[nodiscard]] bool is_never_negative(const source::Polynomial& value);

}  // namespace regraph::rewrite
