#include "rewrite/transform/stage_copy.h"

#include "rewrite/transform/vector_code.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// Copies with at most this many items a thread are written out.
constexpr std::int64_t kMostUnrolledCopies = 32;
// A box is copied row by row where at least this share of the threads then has something to do.
constexpr double kLeastBusy = 0.7;
constexpr std::int64_t kShortestRowOfThreads = 16;

// Declares the coordinates of the item's first element, from the first one to the `last`: items of
// `width` elements, of which there are `items`.
void declare_coordinates(const Stage& stage, std::size_t last, const std::string& item,
                         std::int64_t items, int width, Block& out) {
  std::int64_t below = items;  // items that share the coordinates so far
  for (std::size_t d = 0; d <= last; ++d) {
    const bool is_innermost = d == last;
    ExprPtr place = source::variable(item);
    if (d > 0) place = remainder(place, integer(below));
    below /= is_innermost ? below : stage.box.dimensions[d].extent;
    place = is_innermost ? multiply(place, integer(width)) : divide(place, integer(below));
    out.push_back(declare_integer(stage.coordinates[d], place));
  }
}

// The expression with the coordinates' names replaced.
ExprPtr with_coordinates(const Stage& stage, const ExprPtr& expr, const std::vector<ExprPtr>& at) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    for (std::size_t d = 0; d < at.size(); ++d) {
      if (is_named(node, stage.coordinates[d])) return at[d];
    }
    return std::nullopt;
  });
}

Polynomial index_of(const Stage& stage) {
  Polynomial index = stage.box.base + stage.strip_offset;
  for (std::size_t d = 0; d < stage.coordinates.size(); ++d) {
    const AccessDimension& dimension = stage.box.dimensions[d];
    index = index + dimension.stride *
                        (Polynomial::symbol(stage.coordinates[d]) + Polynomial(dimension.lowest));
  }
  return index;
}

}  // namespace

StmtPtr StageCopy::copy(const Stage& stage, Deal deal) {
  if (!stage.vectors && deal == Deal::rows_if_busy && are_rows_busy(stage)) return copy_rows(stage);
  const int width = stage.vectors ? stage.vectors->width : 1;
  const std::int64_t items = stage.box.elements() / width;
  const std::string item = names_.fresh(stage.name + "_item");
  const std::int64_t rounds = (items + threads() - 1) / threads();
  Block code;
  declare_coordinates(stage, stage.coordinates.size() - 1, item, items, width, code);
  Coordinates at;
  for (const std::string& name : stage.coordinates)
    at.push_back(source::variable(name));
  const Block moved = stage.vectors ? vector_code(stage, at) : element_code(stage, at);
  code.insert(code.end(), moved.begin(), moved.end());
  if (rounds > kMostUnrolledCopies || deal != Deal::items) {
    return counted_loop(item, source::variable(thread_), integer(items), threads(),
                        std::move(code));
  }
  const std::string step = names_.fresh(stage.name + "_step");
  Block body = {declare_integer(
      item, add(source::variable(thread_), multiply(source::variable(step), integer(threads()))))};
  if (items % threads() != 0)
    code = {branch(less(source::variable(item), integer(items)), std::move(code))};
  body.insert(body.end(), code.begin(), code.end());
  return counted_loop(step, integer(0), integer(rounds), 1, std::move(body), kUnrollFully);
}

bool StageCopy::are_rows_busy(const Stage& stage) const {
  if (stage.box.dimensions.size() < 2 || block_.x < kShortestRowOfThreads) return false;
  const auto busy = [](std::int64_t items, std::int64_t workers) {
    const std::int64_t rounds = (items + workers - 1) / workers;
    return static_cast<double>(items) / static_cast<double>(rounds * workers);
  };
  const std::int64_t row = stage.box.dimensions.back().extent;
  return busy(row, block_.x) * busy(stage.box.elements() / row, threads() / block_.x) >= kLeastBusy;
}

StmtPtr StageCopy::copy_rows(const Stage& stage) {
  const std::string line = names_.fresh(stage.name + "_line");
  const std::int64_t row = stage.box.dimensions.back().extent;
  const std::int64_t lines = stage.box.elements() / row;
  Block body;
  declare_coordinates(stage, stage.coordinates.size() - 2, line, lines, 1, body);
  Coordinates at;
  for (const std::string& name : stage.coordinates)
    at.push_back(source::variable(name));
  body.push_back(counted_loop(stage.coordinates.back(), cast("int", builtin("threadIdx.x")),
                              integer(row), block_.x, element_code(stage, at)));
  return counted_loop(line, divide(source::variable(thread_), integer(block_.x)), integer(lines),
                      threads() / block_.x, std::move(body));
}

Block StageCopy::element_code(const Stage& stage, const Coordinates& at) {
  Block code;
  const ExprPtr index = declare_index(stage, at, code);
  code.push_back(assign(stage.element(at), value_of(stage, at, index)));
  return code;
}

// Registers take a vector where all of it belongs to what is accessed, and single elements
// elsewhere; the tile is filled from them in either case.
Block StageCopy::vector_code(const Stage& stage, const Coordinates& at) {
  const int width = stage.vectors->width;
  const std::string values = names_.fresh(stage.name + "_values");
  const std::string vector = names_.fresh(stage.name + "_vector");
  const std::string place = names_.fresh(stage.name + "_place");
  const auto value_at = [&](const ExprPtr& number) {
    return source::element(source::variable(values, stage.scalar), {number});
  };
  Block code;
  const ExprPtr index = declare_index(stage, at, code);
  const VectorShape shape{*stage.scalar, width};
  code.push_back(declare(element_array(values, stage.type, shape), nullptr));
  Block whole = load_elements(value_at(integer(0)), shape, place_of(stage, at, index), vector);
  Coordinates neighbour = at;
  neighbour.back() = add(neighbour.back(), source::variable(place));
  const ExprPtr beside = index ? add(index, source::variable(place)) : nullptr;
  const auto over_places = [&](StmtPtr stmt) {
    return counted_loop(place, integer(0), integer(width), 1, {std::move(stmt)}, kUnrollFully);
  };
  code.push_back(branch(is_whole(stage, at, index), std::move(whole),
                        {over_places(assign(value_at(source::variable(place)),
                                            value_of(stage, neighbour, beside)))}));
  code.push_back(over_places(assign(stage.element(neighbour), value_at(source::variable(place)))));
  return code;
}

ExprPtr StageCopy::declare_index(const Stage& stage, const Coordinates& at, Block& out) {
  if (!stage.count) return nullptr;
  const std::string name = names_.fresh(stage.name + "_index");
  Variable variable = stage.wide_index ? local_variable(name, "long long", ScalarType::i64)
                                       : local_variable(name, "int", ScalarType::i32);
  variable.is_const = true;
  out.push_back(declare(
      variable, with_coordinates(stage, to_expression(index_of(stage), stage.wide_index), at)));
  return source::variable(name, variable.scalar);
}

ExprPtr StageCopy::place_of(const Stage& stage, const Coordinates& at, const ExprPtr& index) {
  const ExprPtr where =
      index ? index : with_coordinates(stage, to_expression(index_of(stage), stage.wide_index), at);
  return source::element(source::variable(stage.name, stage.scalar), {where});
}

// Whether every element of the vector is part of what the original accesses, and rows start where
// vectors do. Asked once for all it is the same for all threads of a block.
ExprPtr StageCopy::is_whole(const Stage& stage, const Coordinates& at, const ExprPtr& index) const {
  std::vector<ExprPtr> conditions;
  for (const std::string& parameter : stage.vectors->divisible) {
    conditions.push_back(
        equals(remainder(source::variable(parameter, kernel_.parameter(parameter)->scalar),
                         integer(stage.vectors->width)),
               integer(0)));
  }
  const std::int64_t last = stage.vectors->width - 1;
  for (TileGuard guard : stage.guards) {
    if (!stage.asks_by_vector) {
      for (std::size_t d = 0; d < stage.coordinates.size(); ++d)
        guard = *guard.hardest(stage.coordinates[d], stage.box.dimensions[d].extent);
      conditions.push_back(guard.expression(stage.wide_index));
      continue;
    }
    const std::string& column = stage.coordinates.back();
    const std::string beyond = "#";
    const Polynomial moved = Polynomial::symbol(column) + Polynomial::symbol(beyond);
    guard.left = guard.left.substitute(column, moved);
    guard.right = guard.right.substitute(column, moved);
    // Where it is not known which end is the harder one, it holds for all where it does at both.
    std::vector<TileGuard> ends = {guard, guard};
    if (const auto hardest = guard.hardest(beyond, stage.vectors->width)) ends = {*hardest};
    for (std::size_t end = 0; end < ends.size(); ++end) {
      const Polynomial at_end(end == 0 ? 0 : last);
      ends[end].left = ends[end].left.substitute(beyond, at_end);
      ends[end].right = ends[end].right.substitute(beyond, at_end);
      conditions.push_back(with_coordinates(stage, ends[end].expression(stage.wide_index), at));
    }
  }
  if (stage.strip) {
    conditions.push_back(
        less(add(source::variable(stage.strip->first), integer(stage.strip->depth - 1)),
             stage.strip->limit));
  }
  if (index) {
    conditions.push_back(binary(BinaryOperator::greater_equal, index, integer(0)));
    conditions.push_back(less(add(index, integer(last)), stage.count));
  }
  return conditions.empty() ? integer(1, "true", ScalarType::i32) : conjunction(conditions);
}

// The element that belongs there, or zero where the original does not access it.
ExprPtr StageCopy::value_of(const Stage& stage, const Coordinates& at, const ExprPtr& index) {
  std::vector<ExprPtr> conditions;
  for (const TileGuard& guard : stage.guards)
    conditions.push_back(with_coordinates(stage, guard.expression(stage.wide_index), at));
  // The strip may reach past the end of the loop.
  if (stage.strip) {
    conditions.push_back(less(add(source::variable(stage.strip->first), at[stage.strip->dimension]),
                              stage.strip->limit));
  }
  if (index) {
    conditions.push_back(binary(BinaryOperator::greater_equal, index, integer(0)));
    conditions.push_back(less(index, stage.count));
  }
  ExprPtr value = place_of(stage, at, index);
  if (conditions.empty()) return value;
  return conditional(conjunction(conditions), value, zero_value(stage.type, stage.scalar));
}

}  // namespace regraph::rewrite
