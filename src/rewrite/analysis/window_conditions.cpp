#include "rewrite/analysis/window_conditions.h"

#include "rewrite/analysis/guarded_liveness.h"
#include "rewrite/analysis/window_array.h"
#include "rewrite/analysis/window_order.h"
#include "rewrite/forms/inequalities.h"
#include "rewrite/forms/kernel_state.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

using source::as;
using source::Expr;
using source::ExprPtr;
using source::Polynomial;
using source::Subscript;

namespace {

// Whether the condition is about a place in the window.
bool asks_window(const ExprPtr& condition, const WindowNest& nest) {
  const std::set<std::string> names = source::variables_of(condition);
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
        const auto* base = source::base_variable(*update.target);
        plan_.may_meet_infinity = plan_.may_meet_infinity || is_floating_sum(base->name, analysis_);
      }
    }
    return check_other_reads(own);
  }

 private:
  bool is_plain_number(const WindowUpdate& update) const {
    const auto* base = source::base_variable(*update.target);
    const source::Variable* variable = analysis_.local(base->name);
    if (variable == nullptr || !variable->scalar) return false;
    return !regraph::is_floating(*variable->scalar) || variable->scalar == ScalarType::f32 ||
           variable->scalar == ScalarType::f64;
  }

  // Whether what is added is a product with the element.
  static bool is_factor(const WindowAccess& access) {
    for (ExprPtr factor : factors_of(added_by(*access.update))) {
      while (const auto* cast = as<source::Cast>(factor))
        factor = cast->operand;
      if (const auto* choice = as<source::Conditional>(factor))
        factor = source::is_zero(choice->otherwise) ? choice->then : choice->otherwise;
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

  WindowPlan& plan_;
  const std::vector<WindowAccess>& accesses_;
  const source::Kernel& kernel_;
  const source::Analysis& analysis_;
  const NeighbourhoodFinder& finder_;
};

}  // namespace

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

Status take_window_conditions(WindowPlan& plan, const std::vector<WindowAccess>& accesses,
                              const KernelForm& form, const NeighbourhoodFinder& finder) {
  return ConditionTaker(plan, accesses, form, finder).run();
}

}  // namespace regraph::rewrite
