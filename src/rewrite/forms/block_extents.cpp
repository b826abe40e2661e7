#include "rewrite/forms/block_extents.h"

#include "source/build.h"
#include "source/match.h"
#include "source/walk.h"

#include <array>
#include <optional>
#include <string>
#include <utility>

namespace regraph::rewrite {

using source::as;
using source::Binary;
using source::BinaryOperator;
using source::ExprPtr;

namespace {

struct Axis {
  std::string letter;
  std::int64_t extent;
};

ExprPtr without_casts(ExprPtr expr) {
  while (const auto* cast = as<source::Cast>(expr))
    expr = cast->operand;
  return expr;
}

bool is_axis_of(const ExprPtr& expr, const char* builtin, const Axis& axis) {
  const ExprPtr plain = without_casts(expr);
  return plain && source::is_builtin(*plain, builtin + axis.letter);
}

// `blockIdx.x * blockDim.x` for `blockIdx.x * extent`, through casts; null for other expressions.
ExprPtr named_start(const ExprPtr& expr, const Axis& axis) {
  if (const auto* cast = as<source::Cast>(expr)) {
    const ExprPtr operand = named_start(cast->operand, axis);
    return operand ? source::with_type(source::cast(cast->target, operand), expr->type) : nullptr;
  }
  const auto* product = source::as_binary(expr, BinaryOperator::multiply);
  if (product == nullptr) return nullptr;
  for (const bool is_swapped : {false, true}) {
    const ExprPtr& block = is_swapped ? product->right : product->left;
    const ExprPtr& number = is_swapped ? product->left : product->right;
    if (!is_axis_of(block, "blockIdx.", axis) ||
        !source::is_number(without_casts(number), axis.extent)) {
      continue;
    }
    ExprPtr extent = source::builtin("blockDim." + axis.letter);
    const ScalarType type = number->type.value_or(ScalarType::i32);
    if (extent->type != type)
      extent = source::with_type(source::cast(std::string(cuda_name(type)), extent), type);
    return source::with_type(
        is_swapped ? source::multiply(extent, block) : source::multiply(block, extent), expr->type);
  }
  return nullptr;
}

}  // namespace

source::Block with_named_block_extents(const source::Block& body, const Dim3& block) {
  const std::array<Axis, 3> axes = {Axis{"x", block.x}, Axis{"y", block.y}, Axis{"z", block.z}};
  return source::rewrite_expressions(body, [&](const ExprPtr& expr) -> std::optional<ExprPtr> {
    const auto* sum = source::as_binary(expr, BinaryOperator::add);
    if (sum == nullptr) return std::nullopt;
    for (const Axis& axis : axes) {
      if (is_axis_of(sum->right, "threadIdx.", axis)) {
        if (const ExprPtr start = named_start(sum->left, axis))
          return source::with_type(source::add(start, sum->right), expr->type);
      }
      if (is_axis_of(sum->left, "threadIdx.", axis)) {
        if (const ExprPtr start = named_start(sum->right, axis))
          return source::with_type(source::add(sum->left, start), expr->type);
      }
    }
    return std::nullopt;
  });
}

}  // namespace regraph::rewrite
