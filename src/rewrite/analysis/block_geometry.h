// The axes of a block, and the thread's place in it.
#pragma once

#include "kernel/launch_plan.h"
#include "source/polynomial.h"

#include <array>
#include <cstdint>

namespace regraph::rewrite {

inline constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};

// Extent of the block along axis 0..2.
[[nodiscard]] std::uint32_t extent(const Dim3& dim, int axis);
void set_extent(Dim3& dim, int axis, std::uint32_t value);

// Replaces blockDim.{x,y,z} by the plan's numbers.
[[nodiscard]] source::Polynomial with_block_extents(const source::Polynomial& polynomial,
                                                    const Dim3& block);

// The thread's number within the block, x fastest, as kernel code.
[[nodiscard]] source::ExprPtr linear_thread(const Dim3& block);

}  // namespace regraph::rewrite
