#include "affine/block_geometry.h"

#include <string>

namespace regraph::affine {

std::uint32_t extent(const Dim3& dim, int axis) {
  return axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z;
}

void set_extent(Dim3& dim, int axis, std::uint32_t value) {
  (axis == 0 ? dim.x : axis == 1 ? dim.y : dim.z) = value;
}

IntegerExpression in_numbers(const IntegerExpression& expression, const Dim3& block) {
  return expression.substitute({{"bx", IntegerExpression(block.x)},
                                {"by", IntegerExpression(block.y)},
                                {"bz", IntegerExpression(block.z)}});
}

Polynomial with_block_extents(const Polynomial& polynomial, const Dim3& block) {
  Polynomial result = polynomial;
  for (int axis = 0; axis < 3; ++axis) {
    result = result.substitute(std::string("blockDim.") + kAxes[static_cast<std::size_t>(axis)],
                               Polynomial(extent(block, axis)));
  }
  return result;
}

std::optional<Polynomial> local_polynomial(const ExprPtr& expr, const Analysis& analysis,
                                           const Dim3& block) {
  const auto polynomial = analysis.polynomial(expr);
  if (!polynomial) return std::nullopt;
  Polynomial result = with_block_extents(*polynomial, block);
  for (int axis = 0; axis < 3; ++axis) {
    if (extent(block, axis) > 1) continue;
    result = result.substitute(std::string("threadIdx.") + kAxes[static_cast<std::size_t>(axis)],
                               Polynomial());
  }
  return result;
}

ExprPtr linear_thread(const Dim3& block) {
  Polynomial thread = Polynomial::symbol("threadIdx.x");
  std::int64_t pitch = block.x;
  if (block.y > 1) thread = thread + Polynomial(pitch) * Polynomial::symbol("threadIdx.y");
  pitch *= block.y;
  if (block.z > 1) thread = thread + Polynomial(pitch) * Polynomial::symbol("threadIdx.z");
  return to_expression(thread);
}

}  // namespace regraph::affine
