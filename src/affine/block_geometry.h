// The axes of a block, and the thread's place in it.
#pragma once

#include "affine/ir.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"
#include "source/polynomial.h"

#include <array>
#include <cstdint>
#include <optional>

namespace regraph::affine {

inline constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};

// Extent of the block along axis 0..2.
[[nodiscard]] std::uint32_t extent(const Dim3& dim, int axis);
void set_extent(Dim3& dim, int axis, std::uint32_t value);

// A grid's extent, or another expression of a launch, with numbers for bx, by and bz.
[[nodiscard]] IntegerExpression in_numbers(const IntegerExpression& expression, const Dim3& block);

// Replaces blockDim.{x,y,z} by the plan's numbers.
[[nodiscard]] Polynomial with_block_extents(const Polynomial& polynomial, const Dim3& block);

// The index with the block's extents filled in and axes of extent 1 dropped; nothing where it is no
// polynomial.
[[nodiscard]] std::optional<Polynomial> local_polynomial(const ExprPtr& expr,
                                                         const Analysis& analysis,
                                                         const Dim3& block);

// The thread's number within the block, x fastest, as kernel code.
[[nodiscard]] ExprPtr linear_thread(const Dim3& block);

}  // namespace regraph::affine
