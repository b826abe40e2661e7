// The rounds of a tree over shared arrays: how far apart the elements are that a round combines,
// and which threads do. Used where sums and where pairs are combined.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

class TreeRounds {
 public:
  // `analysis` must outlive the rounds.
  TreeRounds(const Analysis& analysis, const Dim3& block) : analysis_(analysis), block_(block) {}

  // A loop whose stride halves or doubles over the block, with a guarded update and a barrier in
  // each round. Error: refused, with what differs.
  [[nodiscard]] Status read(const StmtPtr& stmt);
  // Refuses unless the guard selects the threads that a tree needs where element `index` is
  // combined with the one a stride further.
  [[nodiscard]] Status require_guard(const Polynomial& index) const;

  // With the stride as a symbol.
  [[nodiscard]] std::optional<Polynomial> polynomial(const ExprPtr& expr) const;
  [[nodiscard]] Polynomial stride() const { return Polynomial::symbol(stride_); }
  [[nodiscard]] bool halves() const { return order_ == Order::halving; }
  [[nodiscard]] const Block& update() const { return update_; }  // under the guard
  // What a refusal says first.
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  enum class Order { none, doubling, halving };

  Order order_of(const ForLoop& loop);
  std::optional<std::int64_t> start_of(const ExprPtr& expr) const;
  int step_amount(const Assignment& step) const;
  static int amount_of(BinaryOperator op, const ExprPtr& by);
  bool guard_matches(const Polynomial& index) const;

  const Analysis& analysis_;
  Dim3 block_;
  std::string where_;
  std::string stride_;
  Order order_ = Order::none;
  ExprPtr guard_;
  Block update_;
};

// Refuses where what stands behind `position` reads more of the shared array than its first element
// before all threads put something else there.
[[nodiscard]] Status only_first_is_read_after(const Block& body, std::size_t position,
                                              const std::string& array, const Analysis& analysis,
                                              const Dim3& block);

}  // namespace regraph::rewrite
