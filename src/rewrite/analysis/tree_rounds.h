// The rounds of a tree over shared arrays: how far apart the elements are that a round combines,
// and which threads do. Used where sums and where pairs are combined.
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/analysis/block_row.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstddef>
#include <optional>
#include <string>

namespace regraph::rewrite {

// An element of a one-dimensional shared array.
struct SharedElement {
  const Variable* array = nullptr;
  Polynomial index;
};

class TreeRounds {
 public:
  // `body` and its `analysis` must outlive the rounds.
  TreeRounds(const Block& body, const Analysis& analysis, const Dim3& block)
      : body_(body), analysis_(analysis), block_(block), row_(analysis, block) {}

  // The statement at `position`: a loop whose stride halves or doubles over the block, with a
  // guarded update and a barrier in each round. Error: refused, with what differs.
  [[nodiscard]] Status read(std::size_t position);
  // Refuses unless the rounds that combine element `own` of an array with `partner` are a tree over
  // the block, and what stands behind them reads the first element alone.
  [[nodiscard]] Status require_tree(const SharedElement& own, const SharedElement& partner) const;

  // The place in terms of the stride; nothing for anything else.
  [[nodiscard]] std::optional<SharedElement> element(const ExprPtr& place) const;
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
  // Whether the guard selects the threads that a tree needs where element `index` is combined with
  // the one a stride further.
  bool guard_matches(const Polynomial& index) const;
  // With the stride as a symbol.
  std::optional<Polynomial> polynomial(const ExprPtr& expr) const;
  // Whether what stands behind the rounds reads more of the shared array than its first element
  // before all threads put something else there.
  bool reads_beyond_first(const std::string& array) const;

  const Block& body_;
  const Analysis& analysis_;
  Dim3 block_;
  BlockRow row_;
  std::size_t position_ = 0;
  std::string where_;
  std::string stride_;
  Order order_ = Order::none;
  ExprPtr guard_;
  Block update_;
};

}  // namespace regraph::rewrite
