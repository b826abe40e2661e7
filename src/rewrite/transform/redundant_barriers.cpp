#include "rewrite/transform/redundant_barriers.h"

#include "source/analysis.h"
#include "source/mutator.h"
#include "source/walk.h"

#include <algorithm>
#include <set>
#include <vector>

namespace regraph::rewrite {

namespace {

// Places in the order of the text, with the outermost loop that a barrier stands in.
struct PlacedBarrier {
  const Stmt* barrier = nullptr;
  int from = 0;
  int to = 0;
};

class BarrierFinder {
 public:
  explicit BarrierFinder(const Kernel& kernel) : analysis_(kernel) { go(kernel.body, 0); }

  std::set<const Stmt*> idle() const {
    std::set<const Stmt*> found;
    if (analysis_.has_shared()) return found;
    for (const PlacedBarrier& placed : barriers_) {
      // What stands in a loop with it comes before and behind it.
      const auto is_before = [&](int access) { return access <= placed.to; };
      const auto is_behind = [&](int access) { return access >= placed.from; };
      if (std::ranges::none_of(accesses_, is_before) || std::ranges::none_of(accesses_, is_behind))
        found.insert(placed.barrier);
    }
    return found;
  }

 private:
  void go(const Block& block, int depth) {
    for (const StmtPtr& stmt : block) {
      ++position_;
      const std::size_t first = barriers_.size();
      const int start = position_;
      if (is<Barrier>(stmt)) barriers_.push_back({stmt.get(), position_, position_});
      if (may_meet_others(*stmt)) accesses_.push_back(position_);
      const bool is_loop = is<ForLoop>(stmt) || is<WhileLoop>(stmt);
      go(body_of(*stmt), depth + (is_loop ? 1 : 0));
      go(otherwise_of(*stmt), depth);
      if (!is_loop || depth != 0) continue;
      for (std::size_t at = first; at < barriers_.size(); ++at) {
        barriers_[at].from = start;
        barriers_[at].to = position_;
      }
    }
  }

  // Accesses a buffer that the kernel writes, or may.
  bool may_meet_others(const Stmt& stmt) const {
    bool found = is<OpaqueStatement>(stmt);
    const auto look = [&](const Expr& expr) {
      const auto* variable = as<VariableReference>(expr);
      const auto* call = as<Call>(expr);
      found = found || is<OpaqueExpression>(expr) ||
              (call != nullptr && !is_pure(*call) && !call->function.starts_with("make_")) ||
              (variable != nullptr && analysis_.is_global_pointer(variable->name) &&
               analysis_.is_written(variable->name));
    };
    walk_own_expressions(stmt, look);
    for_each_header(stmt, [&](const StmtPtr& part) { walk_own_expressions(*part, look); });
    return found;
  }

  const Analysis analysis_;
  std::vector<PlacedBarrier> barriers_;
  std::vector<int> accesses_;
  int position_ = 0;
};

class BarrierRemover final : public Mutator {
 public:
  explicit BarrierRemover(std::set<const Stmt*> idle) : idle_(std::move(idle)) {}

 private:
  void append(const StmtPtr& stmt, Block& out) override {
    if (!idle_.contains(stmt.get())) Mutator::append(stmt, out);
  }

  const std::set<const Stmt*> idle_;
};

}  // namespace

Block without_redundant_barriers(const Kernel& kernel) {
  return BarrierRemover(BarrierFinder(kernel).idle()).run(kernel.body);
}

}  // namespace regraph::rewrite
