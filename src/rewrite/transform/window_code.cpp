#include "rewrite/transform/window_code.h"

#include "affine/block_geometry.h"
#include "rewrite/analysis/loop_choice.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <utility>

namespace regraph::rewrite {

namespace {

// A box is copied row by row where at least this share of the threads then has something to do.
constexpr double kLeastBusy = 0.7;
constexpr std::int64_t kShortestRowOfThreads = 16;

CounterRanges counters_of(const WindowPlan& plan) {
  const WindowLoop* strip = plan.nest.strip();
  if (strip == nullptr) return {};
  return {{strip->counted.name, plan.depth}};
}

// value >= 0, with what is subtracted on the other side.
ExprPtr not_negative(const Polynomial& value, bool wide) {
  Polynomial more;
  Polynomial less;
  bool is_strict = false;
  for (const auto& [monomial, coefficient] : value.terms()) {
    if (monomial.empty() && coefficient == -1) {
      is_strict = true;
      continue;
    }
    Polynomial term(std::abs(coefficient));
    for (const std::string& symbol : monomial)
      term = term * Polynomial::symbol(symbol);
    (coefficient > 0 ? more : less) = (coefficient > 0 ? more : less) + term;
  }
  return binary(is_strict ? BinaryOperator::less : BinaryOperator::less_equal,
                to_expression(less, wide), to_expression(more, wide));
}

}  // namespace

WindowCode::WindowCode(const KernelForm& form, const Dim3& block, const WindowPlan& plan)
    : kernel_(form.kernel),
      analysis_(form.analysis),
      block_(block),
      plan_(plan),
      names_(form.kernel),
      finder_(form.kernel, form.analysis, block, counters_of(plan)) {
  for (const WindowArray& array : plan.arrays)
    names_.take(array.tile);
}

Block WindowCode::run() {
  Block result;
  for (const WindowArray& array : plan_.arrays)
    result.push_back(declare(array.variable(), nullptr));
  thread_ = names_.fresh("thread");
  result.push_back(declare_integer(thread_, linear_thread(block_)));
  for (std::size_t at = 0; at < kernel_.body.size(); ++at) {
    if (at != plan_.nest.position) {
      result.push_back(kernel_.body[at]);
      continue;
    }
    for (const Block& part : {keep_beginnings(), nest(), add_again()})
      result.insert(result.end(), part.begin(), part.end());
  }
  return result;
}

Block WindowCode::nest() {
  const WindowLoop* strip = plan_.nest.strip();
  if (strip == nullptr) {
    Block result = copies();
    result.push_back(barrier());
    const Block added = sums();
    result.insert(result.end(), added.begin(), added.end());
    return result;
  }
  outer_ = names_.fresh(strip->counted.name + "0");
  inner_ = names_.fresh(strip->counted.name + "1");
  Block body = copies();
  body.push_back(barrier());
  const Block added = sums();
  body.insert(body.end(), added.begin(), added.end());
  body.push_back(barrier());
  return {counted_loop(outer_, integer(0), strip->counted.limit, plan_.depth, std::move(body))};
}

Block WindowCode::copies() {
  Block result;
  for (const WindowArray& array : plan_.arrays)
    result.push_back(array.follows_threads ? copy_box(array) : copy_filter(array));
  return result;
}

bool WindowCode::goes_by_rows(const WindowArray& array) const {
  if (array.extents.size() < 2 || block_.x < kShortestRowOfThreads) return false;
  const auto busy = [](std::int64_t items, std::int64_t workers) {
    const std::int64_t rounds = (items + workers - 1) / workers;
    return static_cast<double>(items) / static_cast<double>(rounds * workers);
  };
  const std::int64_t row = array.extents.back();
  return busy(row, block_.x) * busy(array.elements() / row, threads() / block_.x) >= kLeastBusy;
}

StmtPtr WindowCode::copy_box(const WindowArray& array) {
  const std::size_t rank = array.extents.size();
  std::vector<std::string> coordinates;
  for (std::size_t d = 0; d < rank; ++d)
    coordinates.push_back(
        names_.fresh(array.name + "_" + kDirections[kDirections.size() - rank + d]));
  const std::int64_t row = array.extents.back();
  const bool by_rows = goes_by_rows(array);
  const std::string item = names_.fresh(array.name + (by_rows ? "_line" : "_item"));
  Block body;
  std::int64_t below = by_rows ? array.elements() / row : array.elements();
  const std::size_t outer = by_rows ? rank - 1 : rank;
  for (std::size_t d = 0; d < outer; ++d) {
    below /= array.extents[d];
    ExprPtr value =
        below == 1 ? source::variable(item) : divide(source::variable(item), integer(below));
    if (d > 0) value = remainder(value, integer(array.extents[d]));
    body.push_back(declare_integer(coordinates[d], value));
  }
  const Block element = copy_element(array, coordinates);
  if (!by_rows) {
    body.insert(body.end(), element.begin(), element.end());
    return counted_loop(item, source::variable(thread_), integer(array.elements()), threads(),
                        std::move(body));
  }
  body.push_back(counted_loop(coordinates.back(), cast("int", builtin("threadIdx.x")), integer(row),
                              block_.x, element));
  return counted_loop(item, divide(source::variable(thread_), integer(block_.x)),
                      integer(array.elements() / row), threads() / block_.x, std::move(body));
}

// In the order of memory, whatever the tile's is.
StmtPtr WindowCode::copy_filter(const WindowArray& array) {
  const std::string item = names_.fresh(array.name + "_item");
  std::vector<std::size_t> by_stride(array.extents.size());
  for (std::size_t d = 0; d < by_stride.size(); ++d)
    by_stride[d] = d;
  const auto size = [&](std::size_t d) {
    const auto constant = array.strides[d].constant();
    return std::pair(!constant.has_value(), constant ? std::abs(*constant) : 0);
  };
  std::stable_sort(by_stride.begin(), by_stride.end(),
                   [&](std::size_t a, std::size_t b) { return size(a) > size(b); });
  std::vector<std::string> coordinates(array.extents.size());
  Block body;
  std::int64_t below = array.elements();
  for (const std::size_t d : by_stride) {
    below /= array.extents[d];
    const std::string stem = array.counters[d].empty() ? "place" : array.counters[d];
    coordinates[d] = names_.fresh(array.name + "_" + stem);
    ExprPtr value =
        below == 1 ? source::variable(item) : divide(source::variable(item), integer(below));
    if (d != by_stride.front()) value = remainder(value, integer(array.extents[d]));
    body.push_back(declare_integer(coordinates[d], value));
  }
  const Block element = copy_element(array, coordinates);
  body.insert(body.end(), element.begin(), element.end());
  return counted_loop(item, source::variable(thread_), integer(array.elements()), threads(),
                      std::move(body));
}

Block WindowCode::copy_element(const WindowArray& array,
                               const std::vector<std::string>& coordinates) {
  Polynomial index = array.base;
  if (!outer_.empty()) index = index + array.strip_pitch * Polynomial::symbol(outer_);
  std::vector<ExprPtr> place;
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    place.push_back(source::variable(coordinates[d]));
    index = index +
            array.strides[d] * (Polynomial::symbol(coordinates[d]) + Polynomial(array.lowest[d]));
  }
  const std::string position = names_.fresh(array.name + "_index");
  Variable variable = array.wide_index ? local_variable(position, "long long", ScalarType::i64)
                                       : local_variable(position, "int", ScalarType::i32);
  variable.is_const = true;
  const ExprPtr at = source::variable(position, variable.scalar);
  std::vector<ExprPtr> inside;
  for (Polynomial condition : array.conditions) {
    if (!outer_.empty()) {
      condition =
          condition.substitute(plan_.nest.strip()->counted.name, Polynomial::symbol(outer_));
    }
    for (std::size_t d = 0; d < coordinates.size(); ++d)
      condition = condition.substitute(coordinate_symbol(d), Polynomial::symbol(coordinates[d]));
    inside.push_back(not_negative(condition, array.wide_index));
  }
  inside.push_back(binary(BinaryOperator::greater_equal, at, integer(0)));
  inside.push_back(source::less(at, array.count));
  const ExprPtr value = conditional(
      conjunction(inside), source::element(source::variable(array.name, array.scalar), {at}),
      zero_of(array.scalar));
  return {declare(variable, to_expression(index, array.wide_index)),
          assign(source::element(source::variable(array.tile, array.scalar), place), value)};
}

Block WindowCode::sums() {
  Block body = updates();
  for (std::size_t place = plan_.order.size(); place-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[plan_.order[place]];
    const int unroll = plan_.written_out[place] ? kUnrollFully : kNeverUnroll;
    if (&loop != plan_.nest.strip()) {
      body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                           std::move(body), unroll)};
      continue;
    }
    const std::string rest = names_.fresh(loop.counted.name + "_count");
    const ExprPtr left = cast("int", subtract(loop.counted.limit, source::variable(outer_)));
    const ExprPtr depth = integer(plan_.depth);
    body = {
        declare_integer(rest, conditional(source::less(left, depth), left, depth)),
        counted_loop(inner_, integer(0), source::variable(rest), 1, std::move(body), kNeverUnroll)};
  }
  return body;
}

Block WindowCode::updates() const {
  Block result;
  for (const WindowUpdate& update : plan_.nest.updates)
    result.push_back(assign(update.target, update.op, on_tiles(update.value)));
  return result;
}

ExprPtr WindowCode::on_tiles(const ExprPtr& expr) const {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (const auto* choice = as<Conditional>(node)) {
      // The tile holds the zero.
      const ExprPtr& value = is_zero(choice->otherwise) ? choice->then : choice->otherwise;
      const auto* base = base_variable(*value);
      const bool is_staged =
          base != nullptr && is<Subscript>(value) && plan_.array(base->name) != nullptr;
      if (!is_staged) return std::nullopt;
      return on_tiles(value);
    }
    if (!inner_.empty() && is_named(*node, plan_.nest.strip()->counted.name))
      return add(source::variable(outer_), source::variable(inner_));
    const auto* access = as<Subscript>(node);
    const auto* base = access != nullptr ? base_variable(*node) : nullptr;
    const WindowArray* array = base != nullptr ? plan_.array(base->name) : nullptr;
    if (array == nullptr) return std::nullopt;
    const auto coordinates = tile_coordinates(*array, access->index, finder_);
    if (!coordinates) return std::nullopt;
    std::vector<ExprPtr> place;
    for (Polynomial coordinate : *coordinates) {
      if (!inner_.empty()) {
        coordinate =
            coordinate.substitute(plan_.nest.strip()->counted.name, Polynomial::symbol(inner_));
      }
      place.push_back(to_expression(coordinate));
    }
    return source::element(source::variable(array->tile, array->scalar), place);
  });
}

Block WindowCode::in_copies(Block body) const {
  for (std::size_t place = plan_.order.size(); place-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[plan_.order[place]];
    if (!loop.is_copy) continue;
    body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                         std::move(body), kUnrollFully)};
  }
  return body;
}

// What the sums were before the loops, for add_again.
Block WindowCode::keep_beginnings() {
  if (!plan_.may_meet_infinity) return {};
  Block result;
  Block kept;
  std::set<std::string> done;
  for (const WindowUpdate& update : plan_.nest.updates) {
    const auto* base = base_variable(*update.target);
    if (!done.insert(base->name).second) continue;
    Variable before = *analysis_.local(base->name);
    before.name = names_.fresh(base->name + "_before");
    before.is_const = false;
    beginnings_[base->name] = before.name;
    result.push_back(declare(before, nullptr));
    kept.push_back(assign(
        source::element(source::variable(before.name, before.scalar), indices_of(*update.target)),
        update.target));
  }
  for (const StmtPtr& stmt : in_copies(std::move(kept)))
    result.push_back(stmt);
  return result;
}

// A zero in the place of what a guard skips adds nothing unless the other factor is infinite or no
// number. Then the sum is no number, and it is added up as before.
Block WindowCode::add_again() {
  if (!plan_.may_meet_infinity) return {};
  Block again;
  ExprPtr is_number;
  std::set<std::string> done;
  for (const WindowUpdate& update : plan_.nest.updates) {
    const auto* base = base_variable(*update.target);
    if (!done.insert(base->name).second) continue;
    const ExprPtr same = equals(update.target, update.target);
    is_number = is_number ? both(is_number, same) : same;
    again.push_back(assign(
        update.target,
        source::element(source::variable(beginnings_.at(base->name)), indices_of(*update.target))));
  }
  Block body = plan_.nest.between;
  body.insert(body.end(), plan_.nest.innermost.begin(), plan_.nest.innermost.end());
  for (std::size_t at = plan_.nest.loops.size(); at-- > 0;) {
    const WindowLoop& loop = plan_.nest.loops[at];
    if (loop.is_copy) continue;
    body = {counted_loop(loop.counted.name, loop.counted.first, loop.counted.limit, 1,
                         std::move(body), kNeverUnroll)};
  }
  again.insert(again.end(), body.begin(), body.end());
  return names_.renamed(in_copies({branch(negate(is_number), std::move(again))}));
}

}  // namespace regraph::rewrite
