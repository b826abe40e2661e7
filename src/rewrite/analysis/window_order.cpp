#include "rewrite/analysis/window_order.h"

#include "rewrite/forms/kernel_state.h"

#include <algorithm>

namespace regraph::rewrite {
namespace {

// Copies of the innermost code that are written out at most.
constexpr std::int64_t kMostCopiesWrittenOut = 512;

class LoopOrder {
 public:
  LoopOrder(WindowPlan& plan, const std::vector<WindowAccess>& accesses,
            const NeighbourhoodFinder& finder, const Analysis& analysis, const Problem& problem)
      : plan_(plan), accesses_(accesses), finder_(finder), analysis_(analysis), problem_(problem) {}

  Status set() {
    const std::vector<WindowLoop>& loops = plan_.nest.loops;
    std::int64_t all = 1;
    std::vector<std::size_t> copies;
    for (std::size_t at = 0; at < loops.size(); ++at) {
      if (loops[at].is_copy) {
        copies.push_back(at);
      } else {
        plan_.order.push_back(at);
      }
      all *= loops[at].trips.value_or(1);
    }
    if (all > kMostCopiesWrittenOut && may_reorder()) {
      const auto sharing = std::find_if(plan_.order.begin(), plan_.order.end(),
                                        [&](std::size_t at) { return shares_with_copies(at); });
      if (sharing != plan_.order.end()) {
        plan_.reorders = sharing + 1 != plan_.order.end() && holds_floating_sums();
        std::rotate(sharing, sharing + 1, plan_.order.end());
      }
    }
    plan_.order.insert(plan_.order.end(), copies.begin(), copies.end());
    plan_.written_out.assign(plan_.order.size(), false);
    std::int64_t below = 1;
    for (std::size_t place = plan_.order.size(); place-- > 0;) {
      const auto trips = loops[plan_.order[place]].trips;
      if (!trips || below * *trips > kMostCopiesWrittenOut) break;
      below *= *trips;
      plan_.written_out[place] = true;
    }
    const std::size_t first_copy = plan_.order.size() - copies.size();
    for (std::size_t place = first_copy; place < plan_.order.size(); ++place) {
      if (!plan_.written_out[place]) return refuse("there are too many sums to keep in registers");
    }
    return {};
  }

 private:
  bool may_reorder() const { return problem_.assume.reassociate || !holds_floating_sums(); }

  bool holds_floating_sums() const {
    return std::any_of(plan_.nest.sums.begin(), plan_.nest.sums.end(),
                       [&](const std::string& name) { return is_floating_sum(name, analysis_); });
  }

  // Whether an iteration of the loop and a copy move an index alike.
  bool shares_with_copies(std::size_t at) const {
    const WindowLoop& loop = plan_.nest.loops[at];
    if (!loop.trips) return false;
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const WindowAccess& access) {
      const auto index = finder_.local_polynomial(access.index);
      const auto step = index ? index->coefficient(loop.counted.name) : std::nullopt;
      if (!step || step->is_zero()) return false;
      return std::any_of(plan_.nest.loops.begin(), plan_.nest.loops.end(),
                         [&](const WindowLoop& copy) {
                           return copy.is_copy && index->coefficient(copy.counted.name) == step;
                         });
    });
  }

  WindowPlan& plan_;
  const std::vector<WindowAccess>& accesses_;
  const NeighbourhoodFinder& finder_;
  const Analysis& analysis_;
  const Problem& problem_;
};

}  // namespace

bool is_floating_sum(const std::string& sum, const Analysis& analysis) {
  const Variable* variable = analysis.local(sum);
  return variable == nullptr || !variable->scalar || is_floating(*variable->scalar);
}

Status order_window_loops(WindowPlan& plan, const std::vector<WindowAccess>& accesses,
                          const NeighbourhoodFinder& finder, const Analysis& analysis,
                          const Problem& problem) {
  return LoopOrder(plan, accesses, finder, analysis, problem).set();
}

}  // namespace regraph::rewrite
