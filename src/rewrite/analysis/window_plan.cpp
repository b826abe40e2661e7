#include "rewrite/analysis/window_plan.h"

#include "rewrite/analysis/index_range.h"
#include "rewrite/analysis/seen_under.h"
#include "rewrite/analysis/size_expression.h"
#include "rewrite/forms/inequalities.h"
#include "source/build.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;
using source::Subscript;

namespace {

// Copies of the innermost code that are written out at most.
constexpr std::int64_t kMostWrittenOut = 512;
// Staging pays when each staged element is read at least this often by the block.
constexpr std::int64_t kFewestReads = 2;
// Filters are read by vectors of so many bytes where their rows are made of whole ones.
constexpr std::int64_t kVectorBytes = 16;
// Dimensions of a filter.
constexpr std::size_t kMostCounters = 6;

// One access of a staged array, with what holds where the original makes it.
struct Access {
  std::string array;
  ExprPtr index;
  std::vector<ExprPtr> conditions;  // beyond the guards of its update
  const WindowUpdate* update = nullptr;
};

class Planner {
 public:
  Planner(const KernelForm& form, const Dim3& block, const Problem& problem,
          std::optional<std::int64_t> depth, WindowNest nest)
      : kernel_(form.kernel),
        analysis_(form.analysis),
        block_(block),
        problem_(problem),
        finder_(form.kernel, form.analysis, block, counters_of(nest, depth.value_or(1))) {
    plan_.nest = std::move(nest);
    plan_.depth = depth.value_or(1);
  }

  Result<WindowPlan> run() {
    for (const WindowUpdate& update : plan_.nest.updates) {
      if (Status status = collect(update); !status) return status.error();
    }
    if (Status status = check_threads_guards(); !status) return status.error();
    if (Status status = order_loops(); !status) return status.error();
    for (const auto& [name, reads] : reads_by_array()) {
      auto array = stage(name, reads);
      if (!array) return refuse(name + ": " + array.error().message);
      plan_.arrays.push_back(std::move(*array));
    }
    if (!has_neighbours()) return refuse("no loop leads from a thread's place to its neighbours'");
    if (Status status = take_conditions(); !status) return status.error();
    return std::move(plan_);
  }

 private:
  static CounterRanges counters_of(const WindowNest& nest, std::int64_t depth) {
    const WindowLoop* strip = nest.strip();
    if (strip == nullptr) return {};
    return {{strip->counted.name, depth}};
  }

  // Finds what the update reads.
  Status collect(const WindowUpdate& update) { return collect(added_by(update), {}, update); }

  Status collect(const ExprPtr& expr, const std::vector<ExprPtr>& conditions,
                 const WindowUpdate& update) {
    if (const auto* choice = as<source::Conditional>(expr)) {
      const bool zero_else = is_zero(choice->otherwise);
      if (zero_else || is_zero(choice->then)) {
        std::vector<ExprPtr> inside = conditions;
        const ExprPtr holds = zero_else ? choice->condition : source::negate(choice->condition);
        for (const ExprPtr& term : source::conjuncts(holds))
          inside.push_back(term);
        const ExprPtr& value = zero_else ? choice->then : choice->otherwise;
        if (!source::is<Subscript>(value))
          return refuse("a choice is not between an element and zero");
        if (analysis_.reads_memory(choice->condition)) return refuse("a choice reads memory");
        return collect(value, inside, update);
      }
    }
    if (const auto* access = as<Subscript>(expr)) {
      const auto* base = as<source::VariableReference>(access->base);
      if (base == nullptr || !analysis_.is_global_pointer(base->name)) {
        const bool stays = !analysis_.reads_memory(expr) || is_constant_element(*access);
        return stays ? Status() : refuse("it reads more than elements of buffers");
      }
      accesses_.push_back({base->name, access->index, conditions, &update});
      return {};
    }
    if (source::is<source::Call>(expr) && analysis_.reads_memory(expr))
      return refuse("a call may read memory");
    Status result;
    source::for_each_operand(*expr, [&](const ExprPtr& operand) {
      if (result) result = collect(operand, conditions, update);
    });
    return result;
  }

  // Whether it is an element of a __constant__ array, and inside it whatever guards say.
  bool is_constant_element(const Subscript& access) const {
    const auto* base = as<source::VariableReference>(access.base);
    if (base == nullptr || analysis_.local(base->name) != nullptr) return false;
    const auto symbol =
        std::find_if(problem_.arguments.begin(), problem_.arguments.end(),
                     [&](const Argument& one) { return one.is_symbol && one.name == base->name; });
    if (symbol == problem_.arguments.end()) return false;
    const auto count = symbol->element_count({});
    const auto range = range_of(access.index, analysis_, block_);
    return count && range && range->low >= 0 && range->high < *count;
  }

  std::map<std::string, std::vector<const Access*>> reads_by_array() const {
    std::map<std::string, std::vector<const Access*>> result;
    for (const Access& access : accesses_)
      result[access.array].push_back(&access);
    return result;
  }

  // Whether the condition is about a place in the window.
  bool asks_window(const ExprPtr& condition) const {
    const std::set<std::string> names = source::variables_of(condition);
    return std::any_of(names.begin(), names.end(),
                       [&](const std::string& name) { return plan_.nest.adds_over(name); });
  }

  // Guards about threads and copies go: what is added where they fail must not be seen.
  Status check_threads_guards() const {
    for (const WindowUpdate& update : plan_.nest.updates) {
      std::vector<ExprPtr> dropped;
      for (std::size_t at = 0; at < update.guards.size(); ++at) {
        if (!asks_window(update.guards[at])) dropped.push_back(update.spelled[at]);
      }
      if (!dropped.empty() && !is_seen_only_under(kernel_, analysis_, update.target, dropped))
        return refuse("its sums are seen by threads that the loop's guards keep out");
    }
    return {};
  }

  // Copies innermost. Where there is too much to write out, the loop whose iterations share what
  // copies read comes next to them.
  Status order_loops() {
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
    if (all > kMostWrittenOut && may_reorder()) {
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
      if (!trips || below * *trips > kMostWrittenOut) break;
      below *= *trips;
      plan_.written_out[place] = true;
    }
    const std::size_t first_copy = plan_.order.size() - copies.size();
    for (std::size_t place = first_copy; place < plan_.order.size(); ++place) {
      if (!plan_.written_out[place]) return refuse("there are too many sums to keep in registers");
    }
    return {};
  }

  bool may_reorder() const { return problem_.assume.reassociate || !holds_floating_sums(); }

  bool holds_floating_sums() const {
    return std::any_of(plan_.nest.sums.begin(), plan_.nest.sums.end(),
                       [&](const std::string& name) { return is_floating(name); });
  }

  bool is_floating(const std::string& sum) const {
    const source::Variable* variable = analysis_.local(sum);
    return variable == nullptr || !variable->scalar || regraph::is_floating(*variable->scalar);
  }

  // Whether an iteration of the loop and a copy move an index alike.
  bool shares_with_copies(std::size_t at) const {
    const WindowLoop& loop = plan_.nest.loops[at];
    if (!loop.trips) return false;
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      const auto index = finder_.local_polynomial(access.index);
      const auto step = index ? index->coefficient(loop.counted.name) : std::nullopt;
      if (!step || step->is_zero()) return false;
      return std::any_of(plan_.nest.loops.begin(), plan_.nest.loops.end(),
                         [&](const WindowLoop& copy) {
                           return copy.is_copy && index->coefficient(copy.counted.name) == step;
                         });
    });
  }

  Result<WindowArray> stage(const std::string& name, const std::vector<const Access*>& reads) {
    const source::KernelParameter* parameter = kernel_.parameter(name);
    if (parameter == nullptr || !parameter->scalar || !source::zero_of(*parameter->scalar))
      return refuse("its element type is not supported in tiles");
    if (analysis_.is_written(name)) return refuse("it is written in the kernel");
    WindowArray array;
    array.name = name;
    array.type = parameter->type;
    array.scalar = *parameter->scalar;
    std::vector<ExprPtr> indices;
    for (const Access* read : reads) {
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
    auto count = buffer_length(name, problem_, kernel_, analysis_, array.wide_index);
    if (!count) return count.error();
    array.count = *count;
    return array;
  }

  Status stage_box(WindowArray& array, const std::vector<ExprPtr>& indices) {
    auto box = finder_.find(array.name, indices);
    if (!box) return box.error();
    if (box->reads < kFewestReads * box->elements())
      return refuse("its elements are read less than twice on average");
    array.strides = std::move(box->strides);
    array.lowest = std::move(box->lowest);
    array.extents = std::move(box->extents);
    array.base = std::move(box->base);
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
      array.strides.push_back(*stride);
      array.lowest.push_back(0);
      array.extents.push_back(finder_.count_of(counter));
      // Loops may begin elsewhere than at zero.
      const auto begin = plan_.nest.loops[at].trips
                             ? analysis_.polynomial(plan_.nest.loops[at].counted.first)
                             : std::optional(Polynomial(0));
      array.lowest.back() = *begin->constant();
    }
    array.base = first.without(moving);
    for (const std::string& symbol : array.base.symbols()) {
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
    if (nearest < farthest) {
      array.counters.emplace_back();
      array.strides.emplace_back(1);
      array.lowest.push_back(nearest);
      array.extents.push_back(farthest - nearest + 1);
    }
    if (array.extents.empty()) {
      array.counters.emplace_back();
      array.strides.emplace_back(1);
      array.lowest.push_back(0);
      array.extents.push_back(1);
    }
    if (array.counters.size() > kMostCounters) return refuse("it is read in too many directions");
    const std::int64_t vector =
        kVectorBytes / static_cast<std::int64_t>(size_in_bytes(array.scalar));
    const std::int64_t row = array.extents.back();
    if (vector > 1 && row >= vector) array.padding = (row + vector - 1) / vector * vector - row;
    return {};
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
    for (const std::string& symbol : array.strip_pitch.symbols()) {
      if (finder_.is_local(symbol)) return refuse("its channels are not a fixed distance apart");
    }
    return {};
  }

  // Whether a loop moves along a direction in which threads lie, or neighbours in it are read one
  // by one: else it is a contraction.
  bool has_neighbours() const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& access) {
      const WindowArray& array = *plan_.array(access.array);
      const auto place = tile_coordinates(array, access.index, finder_);
      if (!array.follows_threads || !place) return false;
      for (std::size_t d = 0; d < place->size(); ++d) {
        bool by_thread = false;
        bool by_loop = false;
        for (const std::string& symbol : (*place)[d].symbols()) {
          by_thread = by_thread || symbol.starts_with("threadIdx.");
          by_loop = by_loop || plan_.nest.adds_over(symbol);
        }
        if (by_thread && (by_loop || is_read_beside(array, d, (*place)[d]))) return true;
      }
      return false;
    });
  }

  // Whether the array is read a fixed distance from the coordinate, too.
  bool is_read_beside(const WindowArray& array, std::size_t dimension,
                      const Polynomial& coordinate) const {
    return std::any_of(accesses_.begin(), accesses_.end(), [&](const Access& other) {
      const auto place =
          other.array == array.name ? tile_coordinates(array, other.index, finder_) : std::nullopt;
      const auto distance = place ? ((*place)[dimension] - coordinate).constant() : std::nullopt;
      return distance && *distance != 0;
    });
  }

  // Finds where tiles hold zeros because the original reads nothing there.
  Status take_conditions() {
    std::map<const WindowUpdate*, std::set<const Expr*>> taken;
    std::map<const Access*, std::set<std::size_t>> own;
    for (const Access& access : accesses_) {
      WindowArray& array =
          *std::find_if(plan_.arrays.begin(), plan_.arrays.end(),
                        [&](const WindowArray& one) { return one.name == access.array; });
      for (const ExprPtr& condition : access.conditions) {
        if (!take(array, access, condition, own))
          return refuse("where " + array.name + " is read does not follow its own place alone");
      }
      for (const ExprPtr& guard : access.update->guards) {
        if (!asks_window(guard) || !is_factor(access)) continue;
        if (take(array, access, guard, own)) taken[access.update].insert(guard.get());
      }
    }
    for (const WindowUpdate& update : plan_.nest.updates) {
      for (const ExprPtr& guard : update.guards) {
        if (!asks_window(guard)) continue;
        if (!taken[&update].contains(guard.get()))
          return refuse("a guard in the loop cannot be asked about an element of a factor");
        if (!is_plain_number(update))
          return refuse("sums of that type are not known to keep zeros");
        const auto* base = source::base_variable(*update.target);
        plan_.may_meet_infinity = plan_.may_meet_infinity || is_floating(base->name);
      }
    }
    return check_other_reads(own);
  }

  bool is_plain_number(const WindowUpdate& update) const {
    const auto* base = source::base_variable(*update.target);
    const source::Variable* variable = analysis_.local(base->name);
    if (variable == nullptr || !variable->scalar) return false;
    return !regraph::is_floating(*variable->scalar) || variable->scalar == ScalarType::f32 ||
           variable->scalar == ScalarType::f64;
  }

  // Whether what is added is a product with the element.
  static bool is_factor(const Access& access) {
    for (ExprPtr factor : factors_of(added_by(*access.update))) {
      while (const auto* cast = as<source::Cast>(factor))
        factor = cast->operand;
      if (const auto* choice = as<source::Conditional>(factor))
        factor = is_zero(choice->otherwise) ? choice->then : choice->otherwise;
      const auto* element = as<Subscript>(factor);
      if (element != nullptr && element->index == access.index) return true;
    }
    return false;
  }

  // Adds the condition to the array's; false where it is not about the element's place.
  bool take(WindowArray& array, const Access& access, const ExprPtr& condition,
            std::map<const Access*, std::set<std::size_t>>& own) {
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
    const auto& binary = source::to<source::Binary>(comparison);
    const bool is_less = binary.op == source::BinaryOperator::less ||
                         binary.op == source::BinaryOperator::less_equal;
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
      if (along.is_zero()) continue;
      for (const int sign : {1, -1}) {
        if (!(Polynomial(sign) * along == moving)) continue;
        return value - Polynomial(sign) * place[d] +
               Polynomial(sign) * Polynomial::symbol(coordinate_symbol(d));
      }
    }
    return std::nullopt;
  }

  // An element that one read finds under a condition is zero in the tile where that fails: for all
  // other reads of it the condition has to hold.
  Status check_other_reads(const std::map<const Access*, std::set<std::size_t>>& own) const {
    for (const Access& access : accesses_) {
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
                    const Access& access) const {
    Polynomial value = condition;
    for (std::size_t d = 0; d < place.size(); ++d)
      value = value.substitute(coordinate_symbol(d), place[d]);
    Inequalities known;
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

  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  Dim3 block_;
  const Problem& problem_;
  NeighbourhoodFinder finder_;
  WindowPlan plan_;
  std::vector<Access> accesses_;
};

}  // namespace

std::int64_t WindowArray::elements() const {
  std::int64_t result = 1;
  for (const std::int64_t extent : extents)
    result *= extent;
  return result;
}

source::Variable WindowArray::variable() const {
  std::vector<std::int64_t> padded = extents;
  padded.back() += padding;
  source::Variable result = source::local_variable(tile, type, scalar, padded);
  result.storage = source::Storage::shared;
  if (!follows_threads) result.alignment = static_cast<int>(kVectorBytes);
  return result;
}

std::string coordinate_symbol(std::size_t dimension) {
  return "#" + std::to_string(dimension);
}

const WindowArray* WindowPlan::array(const std::string& name) const {
  const auto found = std::find_if(arrays.begin(), arrays.end(),
                                  [&](const WindowArray& one) { return one.name == name; });
  return found == arrays.end() ? nullptr : &*found;
}

std::optional<std::vector<Polynomial>> tile_coordinates(const WindowArray& array,
                                                        const ExprPtr& index,
                                                        const NeighbourhoodFinder& finder) {
  if (array.follows_threads) {
    Neighbourhood box;
    box.strides = array.strides;
    box.lowest = array.lowest;
    box.extents = array.extents;
    box.base = array.base;
    return finder.coordinates(index, box);
  }
  const auto polynomial = finder.local_polynomial(index);
  if (!polynomial) return std::nullopt;
  Polynomial rest = *polynomial - array.base;
  std::vector<Polynomial> result;
  for (std::size_t d = 0; d < array.counters.size(); ++d) {
    Polynomial coordinate =
        array.counters[d].empty() ? Polynomial() : Polynomial::symbol(array.counters[d]);
    rest = rest - array.strides[d] * coordinate;
    if (array.counters[d].empty()) {
      if (!rest.constant()) return std::nullopt;
      coordinate = rest;
      rest = Polynomial();
    }
    result.push_back(coordinate - Polynomial(array.lowest[d]));
  }
  if (!rest.is_zero()) return std::nullopt;
  return result;
}

Result<WindowPlan> plan_window(const KernelForm& form, const Dim3& block, const Problem& problem,
                               std::optional<std::int64_t> depth) {
  auto nest = find_window_nest(form.kernel, form.analysis);
  if (!nest) return nest.error();
  if (depth.has_value() != (nest->strip() != nullptr)) {
    return refuse(depth ? "the loops over the window have constant lengths, so all of it is staged"
                        : "the loop over '" + nest->strip()->counted.name +
                              "' has no constant length, so it has to be staged in strips");
  }
  return Planner(form, block, problem, depth, std::move(*nest)).run();
}

}  // namespace regraph::rewrite
