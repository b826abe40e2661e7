#include "affine/neighbourhood.h"

#include "affine/block_geometry.h"
#include "affine/constraints.h"
#include "affine/guarded_access.h"
#include "affine/refusal.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <set>
#include <utility>

namespace regraph::affine {

namespace {

// The monomial that tells a stride from smaller ones: the longest, the constant last.
const Monomial& leading(const Polynomial& stride) {
  const auto found = std::max_element(
      stride.terms().begin(), stride.terms().end(),
      [](const auto& a, const auto& b) { return a.first.size() < b.first.size(); });
  return found->first;
}

bool is_larger(const Polynomial& a, const Polynomial& b) {
  const Monomial& left = leading(a);
  const Monomial& right = leading(b);
  if (left.size() != right.size()) return left.size() > right.size();
  return a.terms().at(left) > b.terms().at(right);
}

// Writes `distance` as a sum of whole multiples of the strides, largest first.
std::optional<std::vector<std::int64_t>> in_strides(Polynomial distance,
                                                    const std::vector<Polynomial>& strides) {
  std::vector<std::int64_t> result;
  for (const Polynomial& stride : strides) {
    const Monomial& monomial = leading(stride);
    const std::int64_t unit = stride.terms().at(monomial);
    const auto found = distance.terms().find(monomial);
    const std::int64_t amount = found == distance.terms().end() ? 0 : found->second;
    // Of constant strides the nearest multiple: 1023 is a row of 1024 and one to the left.
    const std::int64_t half = monomial.empty() ? unit / 2 : 0;
    const std::int64_t shifted = amount + half;
    std::int64_t count = shifted / unit;
    if (shifted % unit < 0) --count;
    if (!monomial.empty() && count * unit != amount) return std::nullopt;
    distance = distance - Polynomial(count) * stride;
    result.push_back(count);
  }
  if (!distance.is_zero()) return std::nullopt;
  return result;
}

Polynomial times(std::int64_t factor, const Monomial& monomial) {
  Polynomial result(factor);
  for (const std::string& symbol : monomial)
    result = result * Polynomial::symbol(symbol);
  return result;
}

// Adds a direction for what the strides do not reach: rows of a block that is one row high. Its
// unit is what all distances along it are multiples of.
void extend_to_reach(const Polynomial& distance, std::vector<Polynomial>& strides) {
  while (!in_strides(distance, strides)) {
    const std::pair<const Monomial, std::int64_t>* missing = nullptr;
    bool is_finer = false;
    for (const auto& term : distance.terms()) {
      const Monomial& monomial = term.first;
      const auto known =
          std::find_if(strides.begin(), strides.end(),
                       [&](const Polynomial& stride) { return leading(stride) == monomial; });
      if (known != strides.end()) {
        const std::int64_t unit = known->terms().at(monomial);
        const bool is_coarse =
            !monomial.empty() && known->terms().size() == 1 && term.second % unit != 0;
        if (is_coarse) *known = times(std::gcd(unit, term.second), monomial);
        is_finer = is_finer || is_coarse;
        continue;
      }
      if (missing == nullptr || monomial.size() > missing->first.size()) missing = &term;
    }
    if (is_finer) continue;
    if (missing == nullptr) return;
    const auto& [monomial, factor] = *missing;
    strides.push_back(times(monomial.empty() ? 1 : std::abs(factor), monomial));
    std::sort(strides.begin(), strides.end(), is_larger);
  }
}

// Threads three elements apart and a loop that goes in steps of four meet at single elements.
void refine_shortest(const Polynomial& step, Polynomial& stride) {
  if (step.terms().size() != 1 || stride.terms().size() != 1) return;
  const auto& [monomial, whole] = *stride.terms().begin();
  const auto& [other, part] = *step.terms().begin();
  if (monomial != other || part % whole == 0) return;
  stride = times(std::gcd(whole, part), monomial);
}

}  // namespace

std::vector<NeighbourhoodFinder::Axis> NeighbourhoodFinder::axes() const {
  std::vector<Axis> result;
  for (int axis = 0; axis < 3; ++axis) {
    if (extent(block_, axis) == 1) continue;
    result.push_back({std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)],
                      static_cast<std::int64_t>(extent(block_, axis))});
  }
  return result;
}

std::optional<Polynomial> NeighbourhoodFinder::local_polynomial(const ExprPtr& index) const {
  return affine::local_polynomial(index, analysis_, block_);
}

std::optional<NeighbourhoodFinder::Range> NeighbourhoodFinder::range_of(
    const std::string& variable) const {
  if (const auto known = counters_.find(variable); known != counters_.end())
    return Range{0, known->second - 1, known->second};
  const CountedLoop* loop = analysis_.loop(variable);
  if (loop == nullptr) return std::nullopt;
  const auto first = local_polynomial(loop->first);
  const auto limit = local_polynomial(loop->limit);
  if (!first || !limit || !first->constant() || !limit->constant()) return std::nullopt;
  const std::int64_t count =
      (*limit->constant() - *first->constant() + loop->stride - 1) / loop->stride;
  if (count < 1) return std::nullopt;
  return Range{*first->constant(), *first->constant() + (count - 1) * loop->stride, count};
}

Result<std::vector<Polynomial>> NeighbourhoodFinder::place(const Polynomial& index,
                                                           const std::vector<Polynomial>& strides,
                                                           const Polynomial& base) const {
  std::vector<Polynomial> result(strides.size());
  std::set<std::string> moving;
  for (const Axis& axis : axes())
    moving.insert(axis.symbol);
  for (const std::string& symbol : index.symbols()) {
    const bool is_fixed =
        symbol.find('.') != std::string::npos || kernel_.parameter(symbol) != nullptr;
    if (is_fixed) continue;
    if (!range_of(symbol)) {
      return refuse("its index follows '" + symbol + "', which has no constant range");
    }
    moving.insert(symbol);
  }
  for (const std::string& symbol : moving) {
    const auto factor = index.coefficient(symbol);
    if (!factor) return refuse("its index is not linear in " + symbol);
    if (factor->is_zero()) continue;
    const auto counts = in_strides(*factor, strides);
    if (!counts) return refuse("its index moves with " + symbol + " by no whole rows or columns");
    for (std::size_t d = 0; d < strides.size(); ++d) {
      result[d] = result[d] + Polynomial((*counts)[d]) * Polynomial::symbol(symbol);
    }
  }
  const auto offsets = in_strides(index.without(moving) - base, strides);
  if (!offsets) return refuse("it is read at places no fixed distance apart");
  for (std::size_t d = 0; d < strides.size(); ++d)
    result[d] = result[d] + Polynomial((*offsets)[d]);
  return result;
}

NeighbourhoodFinder::Read NeighbourhoodFinder::read_at(const Polynomial& index) const {
  std::int64_t repeats = 1;
  for (const std::string& symbol : index.symbols()) {
    if (const auto range = range_of(symbol)) repeats *= range->count;
  }
  return {index, repeats};
}

bool NeighbourhoodFinder::is_local(const std::string& symbol) const {
  return symbol.starts_with("threadIdx.") || range_of(symbol).has_value();
}

std::int64_t NeighbourhoodFinder::count_of(const std::string& symbol) const {
  for (const Axis& axis : axes()) {
    if (axis.symbol == symbol) return axis.count;
  }
  const auto range = range_of(symbol);
  return range ? range->count : 1;
}

Result<std::vector<NeighbourhoodFinder::Read>> NeighbourhoodFinder::reads_of(
    const std::string& array, bool& wide_index) const {
  std::vector<Read> reads;
  bool known = true;
  std::int64_t mentions = 0;
  for_each_guarded_access(kernel_.body, [&](const GuardedAccess& access) {
    const auto* base = base_variable(*access.access);
    if (base == nullptr || base->name != array) return;
    ++mentions;
    const ExprPtr& index = access.access->index;
    const auto polynomial = local_polynomial(index);
    known = known && polynomial.has_value() && is<VariableReference>(access.access->base);
    if (!polynomial) return;
    wide_index = wide_index || (index->type && size_in_bytes(*index->type) == 8);
    reads.push_back(read_at(*polynomial));
  });
  if (!known) return refuse("its index is not a polynomial of known symbols");
  walk_expressions(kernel_.body, [&](const Expr& expr) {
    if (is_named(expr, array)) --mentions;
    // &a[i] is an address, not a read.
    const ExprPtr place = addressed(expr);
    const auto* base = place ? base_variable(*place) : nullptr;
    known = known && (base == nullptr || base->name != array);
  });
  if (mentions != 0 || !known) return refuse("its address is used for more than plain reads");
  if (reads.empty()) return refuse("it is not read");
  return reads;
}

Result<std::vector<Polynomial>> NeighbourhoodFinder::strides_of_threads(
    const Polynomial& index) const {
  std::vector<Polynomial> strides;
  for (const Axis& axis : axes()) {
    const auto stride = index.coefficient(axis.symbol);
    if (!stride) return refuse("its index is not linear in " + axis.symbol);
    if (!stride->is_zero()) strides.push_back(*stride);
  }
  if (strides.empty()) return refuse("all threads read the same elements");
  for (const Polynomial& stride : strides) {
    if (stride.terms().at(leading(stride)) < 0) return refuse("its index falls as threads rise");
  }
  std::sort(strides.begin(), strides.end(), is_larger);
  for (std::size_t d = 1; d < strides.size(); ++d) {
    if (!is_larger(strides[d - 1], strides[d])) {
      return refuse("two axes of the block move along the same direction of it");
    }
  }
  return strides;
}

void NeighbourhoodFinder::extend_by_loops(const Polynomial& index, const Polynomial& base,
                                          std::vector<Polynomial>& strides) const {
  Polynomial fixed = index;
  for (const std::string& symbol : index.symbols()) {
    const auto factor = index.coefficient(symbol);
    const bool is_loop = range_of(symbol).has_value();
    if (!factor || (!is_loop && !symbol.starts_with("threadIdx"))) continue;
    if (is_loop) extend_to_reach(*factor, strides);
    fixed = fixed.without({symbol});
  }
  extend_to_reach(fixed - base, strides);
}

NeighbourhoodFinder::Bounds NeighbourhoodFinder::bounds_of(const Polynomial& coordinate) const {
  Constraints box;
  for (const Axis& axis : axes())
    box.add_range(axis.symbol, Polynomial(), Polynomial(axis.count - 1));
  for (const std::string& symbol : coordinate.symbols()) {
    if (const auto range = range_of(symbol))
      box.add_range(symbol, Polynomial(range->first), Polynomial(range->last));
  }
  return {*box.extreme(coordinate, false)->constant(), *box.extreme(coordinate, true)->constant()};
}

void NeighbourhoodFinder::refine_by_loops(const Polynomial& index,
                                          std::vector<Polynomial>& strides) const {
  for (const std::string& symbol : index.symbols()) {
    const auto step = range_of(symbol) ? index.coefficient(symbol) : std::nullopt;
    if (!step || step->is_zero()) continue;
    for (std::size_t d = 0; d < strides.size(); ++d) {
      const std::int64_t whole = strides[d].terms().at(leading(strides[d]));
      const auto part = step->terms().find(leading(strides[d]));
      if (part == step->terms().end() || part->second <= 0 || part->second >= whole) continue;
      const std::int64_t times = whole / part->second;
      if (!(Polynomial(times) * *step == strides[d])) continue;
      // A step within a row leads along the row.
      const bool is_shorter_row = d + 1 < strides.size() &&
                                  leading(strides[d + 1]) == leading(*step) &&
                                  !is_larger(*step, Polynomial(widest_row(index)) * strides[d + 1]);
      if (!is_shorter_row) strides[d] = *step;
    }
    refine_shortest(*step, strides.back());
  }
}

std::int64_t NeighbourhoodFinder::widest_row(const Polynomial& index) const {
  std::int64_t widest = 1;
  for (const std::string& symbol : index.symbols()) {
    if (is_local(symbol)) widest = std::max(widest, count_of(symbol));
  }
  return widest;
}

Result<Neighbourhood> NeighbourhoodFinder::find(const std::string& array) const {
  if (analysis_.is_written(array)) return refuse("it is written in the kernel");
  bool wide_index = false;
  auto reads = reads_of(array, wide_index);
  if (!reads) return std::move(reads).error();
  auto result = box_of(*reads);
  if (!result) return result;
  result->array = array;
  result->wide_index = wide_index;
  return result;
}

Result<Neighbourhood> NeighbourhoodFinder::find(const std::string& array,
                                                const std::vector<ExprPtr>& indices) const {
  if (analysis_.is_written(array)) return refuse("it is written in the kernel");
  std::vector<Read> reads;
  bool wide_index = false;
  for (const ExprPtr& index : indices) {
    const auto polynomial = local_polynomial(index);
    if (!polynomial) return refuse("its index is not a polynomial of known symbols");
    wide_index = wide_index || (index->type && size_in_bytes(*index->type) == 8);
    reads.push_back(read_at(*polynomial));
  }
  if (reads.empty()) return refuse("it is not read");
  auto result = box_of(reads);
  if (!result) return result;
  result->array = array;
  result->wide_index = wide_index;
  return result;
}

Result<Neighbourhood> NeighbourhoodFinder::box_of(const std::vector<Read>& reads) const {
  Neighbourhood result;
  const Polynomial& first = reads.front().index;
  auto found = strides_of_threads(first);
  if (!found) return std::move(found).error();
  std::vector<Polynomial> strides = *std::move(found);
  for (const Read& read : reads)
    refine_by_loops(read.index, strides);

  std::set<std::string> moving;
  for (const Axis& axis : axes())
    moving.insert(axis.symbol);
  for (const std::string& symbol : first.symbols()) {
    if (range_of(symbol)) moving.insert(symbol);
  }
  result.box.base = first.without(moving);
  for (const Read& read : reads)
    extend_by_loops(read.index, result.box.base, strides);
  if (strides.size() > kDirections.size()) return refuse("it is read in too many directions");

  std::vector<Bounds> box;
  for (const Read& read : reads) {
    auto coordinates = place(read.index, strides, result.box.base);
    if (!coordinates) return std::move(coordinates).error();
    result.reads += read.repeats * static_cast<std::int64_t>(block_.count());
    for (std::size_t d = 0; d < coordinates->size(); ++d) {
      const Bounds bounds = bounds_of((*coordinates)[d]);
      if (box.size() <= d) box.push_back(bounds);
      box[d].lowest = std::min(box[d].lowest, bounds.lowest);
      box[d].highest = std::max(box[d].highest, bounds.highest);
    }
  }
  for (std::size_t d = 0; d < box.size(); ++d) {
    result.box.dimensions.push_back(
        {strides[d], {}, box[d].highest - box[d].lowest + 1, box[d].lowest});
  }
  return result;
}

std::optional<std::vector<Polynomial>> NeighbourhoodFinder::coordinates(
    const ExprPtr& index, const AccessMap& box) const {
  const auto polynomial = local_polynomial(index);
  if (!polynomial) return std::nullopt;
  std::vector<Polynomial> strides;
  for (const AccessDimension& dimension : box.dimensions)
    strides.push_back(dimension.stride);
  auto result = place(*polynomial, strides, box.base);
  if (!result) return std::nullopt;
  for (std::size_t d = 0; d < result->size(); ++d)
    (*result)[d] = (*result)[d] - Polynomial(box.dimensions[d].lowest);
  return *result;
}

}  // namespace regraph::affine
