#include "rewrite/transform/tile_copy.h"

#include "rewrite/analysis/vector_type.h"
#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

using source::Block;
using source::ExprPtr;
using source::Polynomial;
using source::StmtPtr;

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
    ExprPtr place = source::variable(item);
    if (d > 0) place = source::remainder(place, source::integer(below));
    below /= is_last ? below : array.footprint.dimensions[d].extent;
    place = is_last ? source::multiply(place, source::integer(width))
                    : source::divide(place, source::integer(below));
    out.push_back(source::declare_integer(array.coordinates[d], place));
    coordinates.push_back(source::variable(array.coordinates[d]));
  }
  return coordinates;
}

}  // namespace

StmtPtr TileCopy::copy(const StagedArray& array) const {
  const int width = array.vectors ? array.vectors->width : 1;
  const std::int64_t items = array.footprint.elements() / width;
  const std::string item = source::fresh_name(kernel_, array.name + "_item");
  const std::string step = source::fresh_name(kernel_, array.name + "_step");
  const std::int64_t rounds = (items + threads_ - 1) / threads_;
  Block code = array.vectors ? vector_code(array, item) : element_code(array, item);
  if (rounds > kMostUnrolledCopies) {
    return source::counted_loop(item, source::variable(thread_), source::integer(items), threads_,
                                std::move(code));
  }
  Block body = {source::declare_integer(
      item, source::add(source::variable(thread_),
                        source::multiply(source::variable(step), source::integer(threads_))))};
  if (items % threads_ != 0) {
    code = {source::branch(source::less(source::variable(item), source::integer(items)),
                           std::move(code))};
  }
  body.insert(body.end(), code.begin(), code.end());
  return source::counted_loop(step, source::integer(0), source::integer(rounds), 1, std::move(body),
                              source::kUnrollFully);
}

Block TileCopy::element_code(const StagedArray& array, const std::string& item) const {
  Block code;
  const std::vector<ExprPtr> coordinates = declare_coordinates(array, item, 1, code);
  code.push_back(source::assign(array.element(coordinates), value_of(array, coordinates)));
  return code;
}

// Registers take a vector where the whole strip belongs to what is accessed, and single elements
// elsewhere; the tile is filled from them in either case.
Block TileCopy::vector_code(const StagedArray& array, const std::string& item) const {
  const int width = array.vectors->width;
  Block code;
  const std::vector<ExprPtr> coordinates = declare_coordinates(array, item, width, code);
  const std::string values = source::fresh_name(kernel_, array.name + "_values");
  const std::string vector = source::fresh_name(kernel_, array.name + "_vector");
  const std::string place = source::fresh_name(kernel_, array.name + "_place");
  const auto value_at = [&](const ExprPtr& number) {
    return source::element(source::variable(values, array.scalar), {number});
  };
  code.push_back(
      source::declare(source::local_variable(values, array.type, array.scalar, {width}), nullptr));

  source::Variable wide = source::local_variable(vector, array.vectors->type, std::nullopt);
  wide.is_const = true;
  const ExprPtr address = source::address(place_of(array, coordinates));
  Block whole = {source::declare(
      wide, source::element(source::cast("const " + array.vectors->type + "*", address),
                            {source::integer(0)}))};
  for (int number = 0; number < width; ++number) {
    whole.push_back(source::assign(value_at(source::integer(number)),
                                   source::member(source::variable(vector, std::nullopt),
                                                  component_name(number), array.scalar)));
  }
  std::vector<ExprPtr> neighbour = coordinates;
  neighbour.back() = source::add(neighbour.back(), source::variable(place));
  const auto over_places = [&](StmtPtr stmt) {
    return source::counted_loop(place, source::integer(0), source::integer(width), 1,
                                {std::move(stmt)}, source::kUnrollFully);
  };
  code.push_back(source::branch(is_whole(array), std::move(whole),
                                {over_places(source::assign(value_at(source::variable(place)),
                                                            value_of(array, neighbour)))}));
  code.push_back(
      over_places(source::assign(array.element(neighbour), value_at(source::variable(place)))));
  return code;
}

// Whether every element of the strip is part of what the original accesses, and rows start where
// vectors do. The same for all threads of a block.
ExprPtr TileCopy::is_whole(const StagedArray& array) const {
  std::vector<ExprPtr> conditions;
  for (const std::string& parameter : array.vectors->divisible) {
    conditions.push_back(source::equals(
        source::remainder(source::variable(parameter, kernel_.parameter(parameter)->scalar),
                          source::integer(array.vectors->width)),
        source::integer(0)));
  }
  for (TileGuard guard : array.guards) {
    for (std::size_t d = 0; d < array.coordinates.size(); ++d)
      guard = *guard.hardest(array.coordinates[d], array.footprint.dimensions[d].extent);
    conditions.push_back(guard.expression(array.wide_index));
  }
  if (array.follows_contraction) {
    conditions.push_back(
        source::less(source::add(source::variable(plan_.outer), source::integer(plan_.depth - 1)),
                     plan_.counted.limit));
  }
  return conditions.empty() ? source::integer(1, "true", ScalarType::i32)
                            : source::conjunction(conditions);
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
  ExprPtr place = source::element(source::variable(array.name, array.scalar),
                                  {source::to_expression(index, array.wide_index)});
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
    conditions.push_back(source::less(source::add(source::variable(plan_.outer), coordinates[d]),
                                      plan_.counted.limit));
  }
  ExprPtr value = place_of(array, coordinates);
  if (conditions.empty()) return value;
  return source::conditional(source::conjunction(conditions), value,
                             source::zero_value(array.type, array.scalar));
}

// The expression with the coordinates' names replaced.
ExprPtr TileCopy::with_coordinates(const StagedArray& array, const ExprPtr& expr,
                                   const std::vector<ExprPtr>& coordinates) {
  return source::rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    for (std::size_t d = 0; d < coordinates.size(); ++d) {
      if (source::is_named(node, array.coordinates[d])) return coordinates[d];
    }
    return std::nullopt;
  });
}

}  // namespace regraph::rewrite
