// What guards compare, as numbers that threads and loops move. Used by interior.h.
#pragma once

#include "affine/constraints.h"
#include "affine/ir.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"

#include <map>
#include <optional>
#include <set>
#include <string>

namespace regraph::affine {

// left order right, over the mathematical integers.
struct GuardTerm {
  Polynomial left;
  Polynomial right;
  BinaryOperator order;
  bool is_wide;      // compared in 64 bits
  bool is_unsigned;  // compared without signs
};

// Guards of a kernel with one way out. The arguments must outlive it.
class GuardTerms {
 public:
  // With `of_blocks`, threads' indices are what extreme() goes over, as loops' counters are.
  GuardTerms(const Kernel& kernel, const Analysis& analysis, const Dim3& block, bool of_blocks);

  // What has to hold for the comparison to hold: its own order; for !=, the side of the other
  // number on which the inside is: above a constant, below a size. Nothing for other expressions,
  // and where what is compared may not be its polynomial.
  [[nodiscard]] std::optional<GuardTerm> term_of(const Expr& condition) const;

  // Whether it mentions what extreme() goes over.
  [[nodiscard]] bool varies(const Polynomial& value) const;
  // Whether it may be another number for another thread or iteration.
  [[nodiscard]] bool depends_on_threads(const Polynomial& value) const;
  // The largest (or smallest) value over all iterations; nothing where the sign of a coefficient is
  // not known.
  [[nodiscard]] std::optional<Polynomial> extreme(Polynomial value, bool largest) const;
  // difference order 0 as code that may stand in front of the kernel's, with what is subtracted on
  // the right. Signed, whatever the parameters are.
  [[nodiscard]] ExprPtr ordered(const Polynomial& difference, BinaryOperator order,
                                bool wide) const;

 private:
  void note_loop(const Stmt& stmt);
  [[nodiscard]] bool loses_bits(const ExprPtr& expr, bool wide) const;
  [[nodiscard]] std::optional<BinaryOperator> order_of(BinaryOperator op, const Polynomial& left,
                                                       const Polynomial& right) const;
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& expr) const;
  [[nodiscard]] ExprPtr spelt_out(const ExprPtr& expr) const;
  [[nodiscard]] bool is_own_name(const std::string& name) const;
  [[nodiscard]] bool is_made_of_parameters(const std::string& name) const;

  const Kernel& kernel_;
  const Analysis& analysis_;
  const Dim3& block_;
  Constraints ranges_;
  std::set<std::string> varying_;  // thread indices and counters
};

// Whether the polynomial is made of builtins and numbers that are not negative.
[[nodiscard]] bool is_never_negative(const Polynomial& value);

}  // namespace regraph::affine
