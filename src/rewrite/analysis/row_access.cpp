#include "rewrite/analysis/row_access.h"

#include "source/build.h"
#include "source/printer.h"
#include "source/walk.h"

#include <algorithm>
#include <utility>

namespace regraph::rewrite {

using source::Analysis;
using source::CountedLoop;
using source::ExprPtr;
using source::Kernel;
using source::Polynomial;

namespace {

// The innermost loop around the access that counts by that name.
const CountedLoop* loop_counting(const PlacedAccess& placed, const std::string& name) {
  for (auto at = placed.around.rbegin(); at != placed.around.rend(); ++at) {
    if (at->counted && at->counted->name == name) return &*at->counted;
  }
  return nullptr;
}

// Fills in the offsets; false where there are too many.
bool enumerate(RowAccess& access, const Analysis& analysis) {
  std::set<std::int64_t> values = {access.offset.terms().contains({}) ? access.offset.terms().at({})
                                                                      : 0};
  for (const CountedLoop* loop : access.loops) {
    const std::int64_t factor = *access.offset.coefficient(loop->name)->constant();
    const auto first = analysis.polynomial(loop->first);
    const std::int64_t trips = *loop->trip_count();
    const auto start = first ? first->constant() : std::nullopt;
    if (!start || trips > kLongestRow) return false;
    std::set<std::int64_t> next;
    for (const std::int64_t value : values) {
      for (std::int64_t trip = 0; trip < trips; ++trip)
        next.insert(value + factor * (*start + trip * loop->stride));
    }
    values = std::move(next);
    if (static_cast<std::int64_t>(values.size()) > kLongestRow) return false;
  }
  access.offsets = std::move(values);
  return true;
}

// In the counter's type, as the loop compares it.
ExprPtr first_in_type(const CountedLoop& counted, const Analysis& analysis) {
  const source::Variable* counter = analysis.local(counted.name);
  return counter == nullptr || counted.first->type == counter->scalar
             ? counted.first
             : source::cast(counter->type, counted.first);
}

}  // namespace

std::set<std::string> Reach::texts() const {
  std::set<std::string> result;
  for (const ExprPtr& term : terms)
    result.insert(source::print(term));
  return result;
}

std::optional<RowAccess> row_access_of(const PlacedAccess& placed, std::size_t position,
                                       const Analysis& analysis) {
  if (!placed.index) return std::nullopt;
  RowAccess result;
  result.placed = &placed;
  result.position = position;
  std::set<std::string> counters;
  for (const std::string& symbol : placed.index->symbols()) {
    const CountedLoop* loop = loop_counting(placed, symbol);
    if (loop == nullptr) continue;
    const auto coefficient = placed.index->coefficient(symbol);
    const auto trips = loop->trip_count();
    if (!trips || *trips < 1 || !coefficient || !coefficient->constant()) return std::nullopt;
    counters.insert(symbol);
    result.loops.push_back(loop);
  }
  const Polynomial fixed = placed.index->without(counters);
  const Polynomial constant(fixed.terms().contains({}) ? fixed.terms().at({}) : 0);
  result.base = fixed - constant;
  result.offset = *placed.index - result.base;
  if (!enumerate(result, analysis)) return std::nullopt;
  for (const Surrounding& surrounding : placed.around) {
    if (!surrounding.loop) continue;
    const bool follows = surrounding.counted && counters.contains(surrounding.counted->name);
    const auto trips =
        surrounding.counted ? surrounding.counted->trip_count() : std::optional<std::int64_t>();
    result.is_again = result.is_again || (!follows && (!trips || *trips > 1));
  }
  return result;
}

bool is_fixed_outside(const ExprPtr& expr, const std::set<std::string>& inside,
                      const Kernel& kernel, const Analysis& analysis) {
  if (analysis.reads_memory(expr)) return false;
  const std::set<std::string> names = source::variables_of(expr);
  return std::all_of(names.begin(), names.end(), [&](const std::string& name) {
    if (inside.contains(name)) return false;
    if (const auto* parameter = kernel.parameter(name))
      return !parameter->is_pointer && !analysis.is_written(name);
    return analysis.is_single_definition(name);
  });
}

Reach reach_of(const PlacedAccess& placed, const std::set<std::string>& inside,
               const Kernel& kernel, const Analysis& analysis) {
  Reach reach;
  for (const Surrounding& surrounding : placed.around) {
    if (surrounding.condition) {
      if (is_fixed_outside(surrounding.condition, inside, kernel, analysis)) {
        reach.terms.push_back(surrounding.condition);
      } else {
        reach.is_certain = false;
      }
      continue;
    }
    if (!surrounding.counted) {
      reach.is_certain = false;
      continue;
    }
    reach.is_certain = reach.is_certain && !surrounding.may_be_left;
    const CountedLoop& counted = *surrounding.counted;
    if (const auto trips = counted.trip_count()) {
      reach.is_certain = reach.is_certain && *trips > 0;
    } else if (is_fixed_outside(counted.first, inside, kernel, analysis) &&
               is_fixed_outside(counted.limit, inside, kernel, analysis)) {
      reach.terms.push_back(source::less(first_in_type(counted, analysis), counted.limit));
    } else {
      reach.is_certain = false;
    }
  }
  return reach;
}

}  // namespace regraph::rewrite
