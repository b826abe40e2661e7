#include "rewrite/transform/tile_copy.h"

#include "rewrite/analysis/vector_type.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

namespace {

// Copies with at most this many items a thread are unrolled, so that their loads are in flight
// together.
constexpr std::int64_t kMostUnrolledCopies = 32;

// Declares the place in the footprint of the item that is copied: `width` elements of a row.
std::vector<ExprPtr> declare_coordinates(const StagedArray& array, const std::string& item,
                                         int width, Block& out) {
  std::vector<ExprPtr> coordinates;
  std::int64_t below =
      array.footprint.elements() / width;  // items that share the coordinates so far
  for (std::size_t d = 0; d < array.coordinates.size(); ++d) {
    const bool is_last = d + 1 == array.coordinates.size();
    ExprPtr place = variable(item);
    if (d > 0) place = remainder(place, integer(below));
    below /= is_last ? below : array.footprint.dimensions[d].extent;
    place = is_last ? multiply(place, integer(width)) : divide(place, integer(below));
    out.push_back(declare_integer(array.coordinates[d], place));
    coordinates.push_back(variable(array.coordinates[d]));
  }
  return coordinates;
}

}  // namespace

StmtPtr TileCopy::copy(const StagedArray& array) const {
  const int width = array.vectors ? array.vectors->width : 1;
  const std::int64_t items = array.footprint.elements() / width;
  const std::string item = fresh_name(kernel_, array.name + "_item");
  const std::string step = fresh_name(kernel_, array.name + "_step");
  const std::int64_t rounds = (items + threads_ - 1) / threads_;
  Block code = array.vectors ? vector_code(array, item) : element_code(array, item);
  if (rounds > kMostUnrolledCopies) {
    return counted_loop(item, variable(thread_), integer(items), threads_, std::move(code));
  }
  Block body = {
      declare_integer(item, add(variable(thread_), multiply(variable(step), integer(threads_))))};
  if (items % threads_ != 0) {
    code = {branch(less(variable(item), integer(items)), std::move(code))};
  }
  body.insert(body.end(), code.begin(), code.end());
  return counted_loop(step, integer(0), integer(rounds), 1, std::move(body), kUnrollFully);
}

Block TileCopy::element_code(const StagedArray& array, const std::string& item) const {
  Block code;
  const std::vector<ExprPtr> coordinates = declare_coordinates(array, item, 1, code);
  code.push_back(assign(array.element(coordinates), value_of(array, coordinates)));
  return code;
}

// Registers take a vector where the whole strip belongs to what is accessed, and single elements
// elsewhere; the tile is filled from them in either case.
Block TileCopy::vector_code(const StagedArray& array, const std::string& item) const {
  const int width = array.vectors->width;
  Block code;
  const std::vector<ExprPtr> coordinates = declare_coordinates(array, item, width, code);
  const std::string values = fresh_name(kernel_, array.name + "_values");
  const std::string vector = fresh_name(kernel_, array.name + "_vector");
  const std::string place = fresh_name(kernel_, array.name + "_place");
  const auto value_at = [&](const ExprPtr& number) {
    return element(variable(values, array.scalar), {number});
  };
  code.push_back(declare(local_variable(values, array.type, array.scalar, {width}), nullptr));

  Variable wide = local_variable(vector, array.vectors->type, std::nullopt);
  wide.is_const = true;
  const ExprPtr address = source::address(place_of(array, coordinates));
  Block whole = {
      declare(wide, element(cast("const " + array.vectors->type + "*", address), {integer(0)}))};
  for (int number = 0; number < width; ++number) {
    whole.push_back(
        assign(value_at(integer(number)),
               member(variable(vector, std::nullopt), component_name(number), array.scalar)));
  }
  std::vector<ExprPtr> neighbour = coordinates;
  neighbour.back() = add(neighbour.back(), variable(place));
  const auto over_places = [&](StmtPtr stmt) {
    return counted_loop(place, integer(0), integer(width), 1, {std::move(stmt)}, kUnrollFully);
  };
  code.push_back(
      branch(is_whole(array), std::move(whole),
             {over_places(assign(value_at(variable(place)), value_of(array, neighbour)))}));
  code.push_back(over_places(assign(array.element(neighbour), value_at(variable(place)))));
  return code;
}

// Whether every element of the strip is part of what the original accesses, and rows start where
// vectors do. The same for all threads of a block.
ExprPtr TileCopy::is_whole(const StagedArray& array) const {
  std::vector<ExprPtr> conditions;
  for (const std::string& parameter : array.vectors->divisible) {
    conditions.push_back(equals(remainder(variable(parameter, kernel_.parameter(parameter)->scalar),
                                          integer(array.vectors->width)),
                                integer(0)));
  }
  for (TileGuard guard : array.guards) {
    for (std::size_t d = 0; d < array.coordinates.size(); ++d)
      guard = *guard.hardest(array.coordinates[d], array.footprint.dimensions[d].extent);
    conditions.push_back(guard.expression(array.wide_index));
  }
  if (array.follows_contraction) {
    conditions.push_back(
        less(add(variable(plan_.outer), integer(plan_.depth - 1)), plan_.counted.limit));
  }
  return conditions.empty() ? integer(1, "true", ScalarType::i32) : conjunction(conditions);
}

// The element of the array.
ExprPtr TileCopy::place_of(const StagedArray& array,
                           const std::vector<ExprPtr>& coordinates) const {
  const Footprint& footprint = array.footprint;
  Polynomial index = footprint.base;
  for (std::size_t d = 0; d < footprint.dimensions.size(); ++d) {
    Polynomial coordinate = Polynomial::symbol(array.coordinates[d]);
    if (footprint.dimensions[d].terms.contains(plan_.counted.name))
      coordinate = coordinate + Polynomial::symbol(plan_.outer);
    index = index + footprint.dimensions[d].stride * coordinate;
  }
  ExprPtr place =
      element(variable(array.name, array.scalar), {to_expression(index, array.wide_index)});
  return with_coordinates(array, place, coordinates);
}

// The element that belongs there, or zero where the original does not access it.
ExprPtr TileCopy::value_of(const StagedArray& array,
                           const std::vector<ExprPtr>& coordinates) const {
  std::vector<ExprPtr> conditions;
  for (const TileGuard& guard : array.guards) {
    conditions.push_back(with_coordinates(array, guard.expression(array.wide_index), coordinates));
  }
  for (std::size_t d = 0; d < array.coordinates.size(); ++d) {
    if (!array.footprint.dimensions[d].terms.contains(plan_.counted.name)) continue;
    // The strip may reach past the end of the loop.
    conditions.push_back(less(add(variable(plan_.outer), coordinates[d]), plan_.counted.limit));
  }
  ExprPtr value = place_of(array, coordinates);
  if (conditions.empty()) return value;
  return conditional(conjunction(conditions), value, zero_value(array.type, array.scalar));
}

// The expression with the coordinates' names replaced.
ExprPtr TileCopy::with_coordinates(const StagedArray& array, const ExprPtr& expr,
                                   const std::vector<ExprPtr>& coordinates) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      if (is_named(node, array.coordinates[d])) return coordinates[d];
    }
    return std::nullopt;
  });
}

}  // namespace regraph::rewrite
