#include "rewrite/analysis/product_coordinates.h"

#include "source/build.h"
#include "source/walk.h"

#include <array>

namespace regraph::rewrite {

namespace {

std::string builtin_on(const char* builtin, int axis) {
  return std::string(builtin) + "." + kAxes[static_cast<std::size_t>(axis)];
}

}  // namespace

std::optional<Polynomial> with_coordinate(const Polynomial& polynomial, int axis, const Dim3& block,
                                          const std::string& coordinate) {
  const std::string thread = builtin_on("threadIdx", axis);
  const std::string number = builtin_on("blockIdx", axis);
  const std::int64_t threads = extent(block, axis);
  Polynomial value = with_block_extents(polynomial, block);
  if (threads == 1) {
    value = value.substitute(thread, Polynomial());
    return value.substitute(number, Polynomial::symbol(coordinate));
  }
  const auto of_thread = value.coefficient(thread);
  const auto of_block = value.coefficient(number);
  if (!of_thread || !of_block || !(*of_block == *of_thread * Polynomial(threads)))
    return std::nullopt;
  return value.substitute(
      thread, Polynomial::symbol(coordinate) - Polynomial(threads) * Polynomial::symbol(number));
}

ExprPtr in_coordinates(const ExprPtr& expr, const KernelForm& form, const Launch& launch,
                       std::span<const ProductAxis> axes, OtherAxes others) {
  return rewrite_expr(expr, [&](const ExprPtr& node) -> std::optional<ExprPtr> {
    if (const auto* builtin = as<Builtin>(node)) {
      for (int axis = 0; axis < 3; ++axis) {
        if (builtin->name == builtin_on("blockDim", axis))
          return integer(extent(launch.block, axis));
      }
      for (const auto& [axis, coordinate, limit] : axes) {
        const ExprPtr place = cast("unsigned int", variable(coordinate));
        const std::int64_t threads_there = extent(launch.block, axis);
        const ExprPtr threads = integer(threads_there);
        if (builtin->name == builtin_on("blockIdx", axis))
          return threads_there == 1 ? place : divide(place, threads);
        if (builtin->name == builtin_on("threadIdx", axis)) return remainder(place, threads);
      }
      if (others == OtherAxes::one_thread && builtin->name.starts_with("threadIdx"))
        return integer(0);
      return std::nullopt;
    }
    if (!is<Binary>(node) && !is<Cast>(node)) return std::nullopt;
    const auto polynomial = form.analysis.polynomial(node);
    if (!polynomial) return std::nullopt;
    for (const auto& [axis, coordinate, limit] : axes) {
      const auto placed = with_coordinate(*polynomial, axis, launch.block, coordinate);
      const bool is_place = placed && *placed == Polynomial::symbol(coordinate);
      // What is a name already stays one.
      if (!is_place || polynomial->symbols().size() < 2) continue;
      const ExprPtr place = variable(coordinate);
      if (!node->type || *node->type == ScalarType::i32) return place;
      return cast(std::string(cuda_name(*node->type)), place);
    }
    return std::nullopt;
  });
}

ExprPtr in_coordinates(const ExprPtr& expr, const KernelForm& form, const Launch& launch,
                       const MatrixProduct& product) {
  const std::array axes = {product.factors[0].axis, product.factors[1].axis};
  return in_coordinates(expr, form, launch, axes);
}

}  // namespace regraph::rewrite
