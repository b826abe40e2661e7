// How a kernel takes the number of its block along an axis apart: `blockIdx.z / channels` and
// `blockIdx.z % channels`, or into three: z / (c * d), z / d % c and z % d. Used by outer_blocks.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <cstddef>
#include <string>

namespace regraph::rewrite {

// "blockIdx.x" of axis 0.
[[nodiscard]] std::string block_index(std::size_t axis);
// "gridDim.x" of axis 0.
[[nodiscard]] std::string grid_extent(std::size_t axis);

// The integer expression without casts between integers around it.
[[nodiscard]] source::ExprPtr without_casts(source::ExprPtr expr);
// Whether it is that builtin, cast or not.
[[nodiscard]] bool is_builtin(const source::ExprPtr& expr, const std::string& name);
// Whether both have the same value: as polynomials, or because they are spelt alike.
[[nodiscard]] bool are_equal(const source::ExprPtr& a, const source::ExprPtr& b,
                             const source::Analysis& analysis);

// By what the outermost digit is divided, where the block's number and the grid's extent along the
// axis are used for digits of this kind and nothing else; null where that is not so.
[[nodiscard]] source::ExprPtr outer_divisor(const source::Block& body, std::size_t axis,
                                            const source::Analysis& analysis);

}  // namespace regraph::rewrite
