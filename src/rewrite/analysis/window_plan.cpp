#include "rewrite/analysis/window_plan.h"

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/neighbourhood.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_conditions.h"
#include "rewrite/analysis/window_order.h"
#include "rewrite/analysis/window_staging.h"
#include "rewrite/forms/kernel_state.h"

#include <algorithm>
#include <map>
#include <utility>

namespace regraph::rewrite {

using source::Polynomial;

namespace {

CounterRanges strip_counters(const WindowNest& nest, std::int64_t depth) {
  const WindowLoop* strip = nest.strip();
  if (strip == nullptr) return {};
  return {{strip->counted.name, depth}};
}

std::map<std::string, std::vector<const WindowAccess*>> reads_by_array(
    const std::vector<WindowAccess>& accesses) {
  std::map<std::string, std::vector<const WindowAccess*>> result;
  for (const WindowAccess& access : accesses)
    result[access.array].push_back(&access);
  return result;
}

// Whether the array is read a fixed distance from the coordinate, too.
bool is_read_beside(const WindowArray& array, std::size_t dimension, const Polynomial& coordinate,
                    const std::vector<WindowAccess>& accesses, const NeighbourhoodFinder& finder) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const WindowAccess& other) {
    const auto place =
        other.array == array.name ? tile_coordinates(array, other.index, finder) : std::nullopt;
    const auto distance = place ? ((*place)[dimension] - coordinate).constant() : std::nullopt;
    return distance && *distance != 0;
  });
}

// Whether a loop moves along a direction in which threads lie, or neighbours in it are read one
// by one: else it is a contraction.
bool has_neighbours(const WindowPlan& plan, const std::vector<WindowAccess>& accesses,
                    const NeighbourhoodFinder& finder) {
  return std::any_of(accesses.begin(), accesses.end(), [&](const WindowAccess& access) {
    const WindowArray& array = *plan.array(access.array);
    const auto place = tile_coordinates(array, access.index, finder);
    if (!array.follows_threads || !place) return false;
    for (std::size_t d = 0; d < place->size(); ++d) {
      bool by_thread = false;
      bool by_loop = false;
      for (const std::string& symbol : (*place)[d].symbols()) {
        by_thread = by_thread || symbol.starts_with("threadIdx.");
        by_loop = by_loop || plan.nest.adds_over(symbol);
      }
      if (by_thread && (by_loop || is_read_beside(array, d, (*place)[d], accesses, finder)))
        return true;
    }
    return false;
  });
}

// Whether the first loop goes over channels, of which a strip can be staged at a time: it is longer
// than a strip, and moves through no array as threads do.
bool goes_over_channels(const WindowNest& nest, std::int64_t depth,
                        const std::vector<WindowAccess>& accesses,
                        const source::Analysis& analysis) {
  const WindowLoop& first = nest.loops.front();
  const auto begin = analysis.polynomial(first.counted.first);
  const bool is_long = first.trips && *first.trips > depth && begin && begin->is_zero();
  if (!is_long || first.is_copy) return false;
  return std::all_of(accesses.begin(), accesses.end(), [&](const WindowAccess& access) {
    const auto index = analysis.polynomial(access.index);
    const auto pitch = index ? index->coefficient(first.counted.name) : std::nullopt;
    if (!pitch) return false;
    return std::none_of(kAxes.begin(), kAxes.end(), [&](const char* axis) {
      const auto stride = index->coefficient(std::string("threadIdx.") + axis);
      return !stride || (!stride->is_zero() && *stride == *pitch);
    });
  });
}

}  // namespace

const WindowArray* WindowPlan::array(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const WindowArray& one) { return one.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

Result<WindowPlan> plan_window(const KernelForm& form, const Launch& launch, const Problem& problem,
                               std::optional<std::int64_t> depth) {
  const Dim3& block = launch.block;
  auto nest = find_window_nest(form.kernel, form.analysis);
  if (!nest) return nest.error();
  const auto accesses = window_accesses(form, *nest, block, problem);
  if (!accesses) return accesses.error();
  if (depth && nest->strip() == nullptr &&
      goes_over_channels(*nest, *depth, *accesses, form.analysis)) {
    nest->loops.front().trips.reset();
  }
  if (depth.has_value() != (nest->strip() != nullptr)) {
    return refuse(depth ? "the loops over the window have constant lengths, so all of it is staged"
                        : "the loop over '" + nest->strip()->counted.name +
                              "' has no constant length, so it has to be staged in strips");
  }
  WindowPlan plan;
  plan.nest = std::move(*nest);
  plan.depth = depth.value_or(1);
  const NeighbourhoodFinder finder(form.kernel, form.analysis, block,
                                   strip_counters(plan.nest, plan.depth));
  if (Status status = check_thread_guards(plan.nest, form); !status) return status.error();
  if (Status status = order_window_loops(plan, *accesses, finder, form.analysis, problem); !status)
    return status.error();
  for (const auto& [name, reads] : reads_by_array(*accesses)) {
    auto array = stage_window_array(name, reads, plan, form, problem, launch, finder);
    if (!array) return refuse(name + ": " + array.error().message);
    plan.arrays.push_back(std::move(*array));
  }
  if (!has_neighbours(plan, *accesses, finder))
    return refuse("no loop leads from a thread's place to its neighbours'");
  if (Status status = take_window_conditions(plan, *accesses, form, finder); !status)
    return status.error();
  return plan;
}

}  // namespace regraph::rewrite
