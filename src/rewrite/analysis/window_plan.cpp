#include "rewrite/analysis/window_plan.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/neighbourhood.h"
#include "affine/size_expression.h"
#include "base/result.h"
#include "kernel/problem.h"
#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/window_accesses.h"
#include "rewrite/analysis/window_array.h"
#include "rewrite/analysis/window_nest.h"
#include "rewrite/analysis/window_order.h"
#include "rewrite/forms/kernel_state.h"
#include "rewrite/forms/names.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {

namespace {

// Conditions around what a window reads: which of them go, and where tiles hold zeros in their
// stead.

// Whether the condition is about a place in the window.
bool asks_window(const ExprPtr& condition, const WindowNest& nest) {
  const std::set<std::string> names = variables_of(condition);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return nest.adds_over(name); });
}

class ConditionTaker {
 public:
  ConditionTaker(WindowPlan& plan, const std::vector<WindowAccess>& accesses,
                 const KernelForm& form, const NeighbourhoodFinder& finder)
      : plan_(plan),
        accesses_(accesses),
        kernel_(form.kernel),
        analysis_(form.analysis),
        finder_(finder) {}

  // Finds where tiles hold zeros because the original reads nothing there: sets the conditions of
  // the plan's arrays, and whether infinities may be met. Error: refused, where a condition is
  // about more than an element's own place, or not the same for all that read it.
  Status run() {
    std::map<const WindowUpdate*, std::set<const Expr*>> taken;
    std::map<const WindowAccess*, std::set<std::size_t>> own;
    for (const WindowAccess& access : accesses_) {
      WindowArray& array =
          *std::find_if(plan_.arrays.begin(), plan_.arrays.end(),
                        [&](const WindowArray& one) { return one.name == access.array; });
      for (const ExprPtr& condition : access.conditions) {
        if (!take(array, access, condition, own))
          return refuse("where " + array.name + " is read does not follow its own place alone");
      }
      for (const ExprPtr& guard : access.update->guards) {
        if (!asks_window(guard, plan_.nest) || !is_factor(access)) continue;
        if (take(array, access, guard, own)) taken[access.update].insert(guard.get());
      }
    }
    for (const WindowUpdate& update : plan_.nest.updates) {
      for (const ExprPtr& guard : update.guards) {
        if (!asks_window(guard, plan_.nest)) continue;
        if (!taken[&update].contains(guard.get()))
          return refuse("a guard in the loop cannot be asked about an element of a factor");
        if (!is_plain_number(update))
          return refuse("sums of that type are not known to keep zeros");
        const auto* base = base_variable(*update.target);
        plan_.may_meet_infinity = plan_.may_meet_infinity || is_floating_sum(base->name, analysis_);
      }
    }
    return check_other_reads(own);
  }

 private:
  bool is_plain_number(const WindowUpdate& update) const {
    const auto* base = base_variable(*update.target);
    const Variable* variable = analysis_.local(base->name);
    if (variable == nullptr || !variable->scalar) return false;
    return !regraph::is_floating(*variable->scalar) || variable->scalar == ScalarType::f32 ||
           variable->scalar == ScalarType::f64;
  }

  // A zero stays one in any type.
  static ExprPtr behind_conversions(ExprPtr value) {
    while (ExprPtr inner = converted(value))
      value = std::move(inner);
    return value;
  }

  // Whether what is added is a product with the element.
  static bool is_factor(const WindowAccess& access) {
    for (ExprPtr factor : factors_of(added_by(*access.update))) {
      factor = behind_conversions(factor);
      if (const auto* choice = as<Conditional>(factor))
        factor = behind_conversions(is_zero(choice->otherwise) ? choice->then : choice->otherwise);
      const auto* element = as<Subscript>(factor);
      if (element != nullptr && element->index == access.index) return true;
    }
    return false;
  }

  // Adds the condition to the array's; false where it is not about the element's place.
  bool take(WindowArray& array, const WindowAccess& access, const ExprPtr& condition,
            std::map<const WindowAccess*, std::set<std::size_t>>& own) {
    const auto slacks = slacks_of(condition);
    const auto place = tile_coordinates(array, access.index, finder_);
    if (!slacks || !place) return false;
    std::vector<Polynomial> converted;
    for (const Polynomial& slack : *slacks) {
      const auto over = over_coordinates(slack, *place);
      if (!over) return false;
      converted.push_back(*over);
    }
    for (const Polynomial& one : converted) {
      auto known = std::find(array.conditions.begin(), array.conditions.end(), one);
      if (known == array.conditions.end()) known = array.conditions.insert(known, one);
      own[&access].insert(static_cast<std::size_t>(known - array.conditions.begin()));
    }
    return true;
  }

  // Polynomials that are all not negative exactly where the comparison holds.
  std::optional<std::vector<Polynomial>> slacks_of(const ExprPtr& comparison) const {
    const auto reader = [&](const ExprPtr& side) { return finder_.local_polynomial(side); };
    const auto slack = slack_of(comparison, reader);
    if (!slack) return std::nullopt;
    std::vector<Polynomial> result = {*slack};
    if (!compares_unsigned(comparison)) return result;
    const auto& binary = to<Binary>(comparison);
    const bool is_less =
        binary.op == BinaryOperator::less || binary.op == BinaryOperator::less_equal;
    const auto smaller = reader(is_less ? binary.left : binary.right);
    const auto larger = reader(is_less ? binary.right : binary.left);
    // What would be negative is large, and so fails where the other side is a number of things.
    if (!is_size(*larger)) return std::nullopt;
    if (!is_size(*smaller)) result.push_back(*smaller);
    return result;
  }

  // Never negative, as a sum of sizes and indices.
  bool is_size(const Polynomial& value) const {
    return std::all_of(value.terms().begin(), value.terms().end(), [&](const auto& term) {
      return term.second >= 0 &&
             std::all_of(term.first.begin(), term.first.end(), [&](const std::string& name) {
               return name.find('.') != std::string::npos || kernel_.parameter(name) != nullptr;
             });
    });
  }

  Polynomial local_part(const Polynomial& value) const {
    Polynomial fixed = value;
    for (const std::string& symbol : value.symbols()) {
      if (finder_.is_local(symbol)) fixed = fixed.without({symbol});
    }
    return value - fixed;
  }

  // The polynomial with one coordinate in the place of what it takes from threads and counters.
  std::optional<Polynomial> over_coordinates(const Polynomial& value,
                                             const std::vector<Polynomial>& place) const {
    const Polynomial moving = local_part(value);
    if (moving.is_zero()) return std::nullopt;
    for (std::size_t d = 0; d < place.size(); ++d) {
      const Polynomial along = local_part(place[d]);
      const auto before = before_strip(along);
      if (along.is_zero() || !before) continue;
      for (const int sign : {1, -1}) {
        if (!(Polynomial(sign) * along == moving)) continue;
        return value - Polynomial(sign) * place[d] +
               Polynomial(sign) * (Polynomial::symbol(coordinate_symbol(d)) + *before);
      }
    }
    return std::nullopt;
  }

  // What the iterations before the strip add to a place: coordinates count from the strip's first.
  std::optional<Polynomial> before_strip(const Polynomial& place) const {
    const WindowLoop* strip = plan_.nest.strip();
    if (strip == nullptr) return Polynomial();
    const auto pitch = place.coefficient(strip->counted.name);
    if (!pitch) return std::nullopt;
    return *pitch * Polynomial::symbol(strip->counted.name);
  }

  // An element that one read finds under a condition is zero in the tile where that fails: for all
  // other reads of it the condition has to hold.
  Status check_other_reads(const std::map<const WindowAccess*, std::set<std::size_t>>& own) const {
    for (const WindowAccess& access : accesses_) {
      const WindowArray& array = *plan_.array(access.array);
      const auto known = own.find(&access);
      const auto place = tile_coordinates(array, access.index, finder_);
      if (!place) return refuse(array.name + ": it is read at a place that its tile has not");
      for (std::size_t at = 0; at < array.conditions.size(); ++at) {
        if (known != own.end() && known->second.contains(at)) continue;
        if (!always_holds(array.conditions[at], *place, access))
          return refuse(array.name + " is read in several places under different conditions");
      }
    }
    return {};
  }

  bool always_holds(const Polynomial& condition, const std::vector<Polynomial>& place,
                    const WindowAccess& access) const {
    Polynomial value = condition;
    for (std::size_t d = 0; d < place.size(); ++d) {
      const auto before = before_strip(place[d]);
      if (!before) return false;
      value = value.substitute(coordinate_symbol(d), place[d] - *before);
    }
    Constraints known;
    for (const char* axis : {"x", "y", "z"}) {
      const std::string thread = std::string("threadIdx.") + axis;
      known.add(Polynomial(finder_.count_of(thread) - 1) - Polynomial::symbol(thread));
    }
    for (const WindowLoop& loop : plan_.nest.loops)
      known.add_loop(loop.counted, analysis_);
    const auto note = [&](const ExprPtr& condition_here) {
      if (const auto slacks = slacks_of(condition_here)) {
        for (const Polynomial& slack : *slacks)
          known.add(slack);
      }
    };
    for (const ExprPtr& guard : access.update->guards)
      note(guard);
    for (const ExprPtr& one : access.conditions)
      note(one);
    return known.proves(value);
  }

  WindowPlan& plan_;
  const std::vector<WindowAccess>& accesses_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  const NeighbourhoodFinder& finder_;
};

// Guards about threads and copies go: what is added where they fail must not be seen. Error:
// refused, where it is.
Status check_thread_guards(const WindowNest& nest, const KernelForm& form) {
  for (const WindowUpdate& update : nest.updates) {
    std::vector<ExprPtr> dropped;
    for (std::size_t at = 0; at < update.guards.size(); ++at) {
      if (!asks_window(update.guards[at], nest)) dropped.push_back(update.spelled[at]);
    }
    if (!dropped.empty() && !is_live_only_under(form.kernel, form.analysis, update.target, dropped))
      return refuse("its sums are seen by threads that the loop's guards keep out");
    for (const ExprPtr& read : {update.target, update.value}) {
      if (!dropped.empty() && !reads_set_registers(form.kernel, form.analysis, read))
        return refuse("it adds up registers that hold nothing where the loop's guards fail");
    }
  }
  return {};
}

// Which part of an array a window's threads read, as a tile in shared memory.

// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kFewestReads = 2;
// Dimensions of a filter.
constexpr std::size_t kMostCounters = 6;

class ArrayStager {
 public:
  ArrayStager(const WindowPlan& plan, const KernelForm& form, const Problem& problem,
              const Launch& launch, const NeighbourhoodFinder& finder, bool by_vectors)
      : plan_(plan),
        kernel_(form.kernel),
        analysis_(form.analysis),
        problem_(problem),
        launch_(launch),
        finder_(finder),
        by_vectors_(by_vectors) {}

  // The array that all of `reads` are of, with its tile; without a name for the tile and without
  // conditions. The plan's loops are in their order. Error: refused, with what stands against it.
  Result<WindowArray> stage(const std::string& name,
                            const std::vector<const WindowAccess*>& reads) {
    const KernelParameter* parameter = kernel_.parameter(name);
    if (parameter == nullptr || !parameter->scalar)
      return refuse("its element type is not supported in tiles");
    if (analysis_.is_written(name)) return refuse("it is written in the kernel");
    WindowArray array;
    array.name = name;
    array.type = parameter->type;
    array.scalar = *parameter->scalar;
    std::vector<ExprPtr> indices;
    for (const WindowAccess* read : reads) {
      const auto index = finder_.local_polynomial(read->index);
      if (!index) return refuse("its index is not a polynomial of known symbols");
      for (const std::string& symbol : index->symbols())
        array.follows_threads = array.follows_threads || symbol.starts_with("threadIdx.");
      indices.push_back(read->index);
      array.wide_index =
          array.wide_index || (read->index->type && size_in_bytes(*read->index->type) == 8);
    }
    Status status =
        array.follows_threads ? stage_box(array, indices) : stage_filter(array, indices);
    if (!status) return status.error();
    if (Status pitch = find_strip_pitch(array, indices); !pitch) return pitch.error();
    auto count = buffer_length(name, problem_, &launch_, kernel_, analysis_, array.wide_index);
    if (!count) return count.error();
    array.count = *count;
    name_coordinates(array);
    if (by_vectors_ && array.follows_threads) {
      SymbolFacts facts = facts_of(kernel_);
      if (plan_.nest.strip() != nullptr) facts.multiples[plan_.outer] = plan_.depth;
      fill_by_vectors(array, problem_.assume.align, facts);
    }
    return array;
  }

 private:
  Status stage_box(WindowArray& array, const std::vector<ExprPtr>& indices) {
    auto box = finder_.find(array.name, indices);
    if (!box) return box.error();
    if (box->reads < kFewestReads * box->box.elements())
      return refuse("its elements are read less than twice on average");
    array.box = std::move(box->box);
    return {};
  }

  // A dimension for each counter, in the order of the new loops, so that what is written out
  // follows in memory; where several places are read, one for their distances.
  Status stage_filter(WindowArray& array, const std::vector<ExprPtr>& indices) {
    const Polynomial first = *finder_.local_polynomial(indices.front());
    std::set<std::string> moving;
    for (const std::size_t at : plan_.order) {
      const std::string& counter = plan_.nest.loops[at].counted.name;
      const auto stride = first.coefficient(counter);
      if (!stride) return refuse("its index is not linear in " + counter);
      if (stride->is_zero()) continue;
      if (stride->mentions(counter) || mentions_counters(*stride))
        return refuse("its index multiplies counters");
      moving.insert(counter);
      array.counters.push_back(counter);
      // Loops may begin elsewhere than at zero.
      const auto begin = plan_.nest.loops[at].trips
                             ? analysis_.polynomial(plan_.nest.loops[at].counted.first)
                             : std::optional(Polynomial(0));
      array.box.dimensions.push_back({*stride, {}, finder_.count_of(counter), *begin->constant()});
    }
    array.box.base = first.without(moving);
    for (const std::string& symbol : array.box.base.symbols()) {
      const bool is_known = symbol.starts_with("blockIdx.") || kernel_.parameter(symbol) != nullptr;
      if (!is_known) return refuse("its index follows '" + symbol + "'");
    }
    std::int64_t nearest = 0;
    std::int64_t farthest = 0;
    for (const ExprPtr& index : indices) {
      const auto distance = (*finder_.local_polynomial(index) - first).constant();
      if (!distance) return refuse("it is read at places no fixed distance apart");
      nearest = std::min(nearest, *distance);
      farthest = std::max(farthest, *distance);
    }
    if (nearest < farthest || array.counters.empty()) {
      array.counters.emplace_back();
      array.box.dimensions.push_back({Polynomial(1), {}, farthest - nearest + 1, nearest});
    }
    if (array.counters.size() > kMostCounters) return refuse("it is read in too many directions");
    const auto bytes = static_cast<std::int64_t>(size_in_bytes(*array.scalar));
    const std::int64_t vector = kFilterVectorBytes / bytes;
    const std::int64_t row = array.box.dimensions.back().extent;
    if (vector > 1 && row >= vector) array.padding = (row + vector - 1) / vector * vector - row;
    // Aligned although no row is made of whole vectors, a compiler may read beyond the last
    // element.
    array.is_aligned = (row + array.padding) * bytes % kFilterVectorBytes == 0;
    order_by_memory(array);
    return {};
  }

  // The box in the order of memory, whatever the tile's is.
  static void order_by_memory(WindowArray& array) {
    const std::vector<AccessDimension> in_tile = array.box.dimensions;
    const std::vector<std::string> counters = array.counters;
    std::vector<std::size_t> by_stride(in_tile.size());
    for (std::size_t d = 0; d < by_stride.size(); ++d)
      by_stride[d] = d;
    const auto size = [&](std::size_t d) {
      const auto constant = in_tile[d].stride.constant();
      return std::pair(!constant.has_value(), constant ? std::abs(*constant) : 0);
    };
    std::stable_sort(by_stride.begin(), by_stride.end(),
                     [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
    array.order.resize(in_tile.size());
    for (std::size_t d = 0; d < in_tile.size(); ++d) {
      array.box.dimensions[d] = in_tile[by_stride[d]];
      array.counters[d] = counters[by_stride[d]];
      array.order[by_stride[d]] = d;
    }
  }

  void name_coordinates(WindowArray& array) const {
    const std::size_t rank = array.box.dimensions.size();
    Names names(kernel_);
    for (std::size_t d = 0; d < rank; ++d) {
      std::string stem = "place";
      if (array.follows_threads) {
        stem = kDirections[kDirections.size() - rank + d];
      } else if (!array.counters[d].empty()) {
        stem = array.counters[d];
      }
      array.coordinates.push_back(names.fresh(array.name + "_" + stem));
    }
  }

  bool mentions_counters(const Polynomial& polynomial) const {
    return std::any_of(
        plan_.nest.loops.begin(), plan_.nest.loops.end(),
        [&](const WindowLoop& loop) { return polynomial.mentions(loop.counted.name); });
  }

  Status find_strip_pitch(WindowArray& array, const std::vector<ExprPtr>& indices) const {
    const WindowLoop* strip = plan_.nest.strip();
    if (strip == nullptr) return {};
    for (const ExprPtr& index : indices) {
      const auto pitch = finder_.local_polynomial(index)->coefficient(strip->counted.name);
      if (!pitch || mentions_counters(*pitch)) return refuse("its index multiplies counters");
      if (index == indices.front()) array.strip_pitch = *pitch;
      if (!(array.strip_pitch == *pitch)) return refuse("its reads move apart as channels go by");
    }
    array.strip_offset = array.strip_pitch * Polynomial::symbol(plan_.outer);
    for (const std::string& symbol : array.strip_pitch.symbols()) {
      if (finder_.is_local(symbol)) return refuse("its channels are not a fixed distance apart");
    }
    return {};
  }

  const WindowPlan& plan_;
  const Kernel& kernel_;
  const Analysis& analysis_;
  const Problem& problem_;
  const Launch& launch_;
  const NeighbourhoodFinder& finder_;
  bool by_vectors_;
};

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
                        const std::vector<WindowAccess>& accesses, const Analysis& analysis) {
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

// The conditions as the copy asks them.
void guard_elements(WindowArray& array, const WindowPlan& plan) {
  array.asks_by_vector = true;
  for (Polynomial condition : array.conditions) {
    if (const WindowLoop* strip = plan.nest.strip())
      condition = condition.substitute(strip->counted.name, Polynomial::symbol(plan.outer));
    for (std::size_t d = 0; d < array.coordinates.size(); ++d)
      condition =
          condition.substitute(coordinate_symbol(d), Polynomial::symbol(array.coordinates[d]));
    array.guards.push_back(TileGuard::not_negative(condition));
  }
}

}  // namespace

const WindowArray* WindowPlan::array(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const WindowArray& one) { return one.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

Result<WindowPlan> plan_window(const KernelForm& form, const Launch& launch, const Problem& problem,
                               std::optional<std::int64_t> depth, bool by_vectors) {
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
  Names names(form.kernel);
  if (const WindowLoop* strip = plan.nest.strip()) {
    plan.outer = names.fresh(strip->counted.name + "0");
    plan.inner = names.fresh(strip->counted.name + "1");
  }
  const NeighbourhoodFinder finder(form.kernel, form.analysis, block,
                                   strip_counters(plan.nest, plan.depth));
  if (Status status = check_thread_guards(plan.nest, form); !status) return status.error();
  if (Status status = order_window_loops(plan, *accesses, finder, form.analysis, problem); !status)
    return status.error();
  ArrayStager stager(plan, form, problem, launch, finder, by_vectors);
  for (const auto& [name, reads] : reads_by_array(*accesses)) {
    auto array = stager.stage(name, reads);
    if (!array) return refuse(name + ": " + array.error().message);
    array->tile = names.fresh(name + "_tile");
    plan.arrays.push_back(std::move(*array));
  }
  if (by_vectors && !has_vectors(plan.arrays)) {
    return refuse("no row of a box can begin and end where vectors of " +
                  std::to_string(problem.assume.align) + " bytes at most do");
  }
  if (!has_neighbours(plan, *accesses, finder))
    return refuse("no loop leads from a thread's place to its neighbours'");
  if (Status status = ConditionTaker(plan, *accesses, form, finder).run(); !status)
    return status.error();
  for (WindowArray& array : plan.arrays)
    guard_elements(array, plan);
  return plan;
}

}  // namespace regraph::rewrite
