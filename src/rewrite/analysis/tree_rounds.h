// The rounds of a tree over shared arrays: how far apart the elements are that a round combines,
// and which threads do. Used where sums and where pairs are combined.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"

#include <string>

namespace regraph::rewrite {

class TreeRounds {
 public:
  // `analysis` must outlive the rounds.
  TreeRounds(const source::Analysis& analysis, const Dim3& block)
      : analysis_(analysis), block_(block) {}

  // A loop whose stride halves or doubles over the block, with a guarded update and a barrier in
  // each round. Error: refused, with what differs.
  [[nodiscard]] Status read(const source::StmtPtr& stmt);
  // Refuses unless the guard selects the threads that a tree needs where element `index` is
  // combined with the one a stride further.
  [[nodiscard]] Status require_guard(const source::Polynomial& index) const;

  // With the stride as a symbol.
  [[nodiscard]] std::optional<source::Polynomial> polynomial(const source::ExprPtr& expr) const;
  [[nodiscard]] source::Polynomial stride() const { return source::Polynomial::symbol(stride_); }
  [[nodiscard]] bool halves() const { return order_ == Order::halving; }
  [[nodiscard]] const source::Block& update() const { return update_; }  // under the guard
  // What a refusal says first.
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  enum class Order { none, doubling, halving };

  Order order_of(const source::ForLoop& loop);
  std::optional<std::int64_t> start_of(const source::ExprPtr& expr) const;
  int step_amount(const source::Assignment& step) const;
  static int amount_of(source::BinaryOperator op, const source::ExprPtr& by);
  bool guard_matches(const source::Polynomial& index) const;

  const source::Analysis& analysis_;
  Dim3 block_;
  std::string where_;
  std::string stride_;
  Order order_ = Order::none;
  source::ExprPtr guard_;
  source::Block update_;
};

// Refuses where what stands behind `position` reads more of the shared array than its first element
// before all threads put something else there.
[[nodiscard]] Status only_first_is_read_after(const source::Block& body, std::size_t position,
                                              const std::string& array,
                                              const source::Analysis& analysis, const Dim3& block);

}  // namespace regraph::rewrite
