// Between which numbers an index lies, from the block's extents and the bounds of loops.
#pragma once

#include "affine/ir.h"
#include "kernel/launch_plan.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>

namespace regraph::affine {

// Both ends belong to it.
struct IndexRange {
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// Whether values of the type are indices as they are: narrower integers may cut them off.
[[nodiscard]] bool is_index_type(const std::optional<ScalarType>& type);

// Whether quotients or remainders are part of the expression, or of what its names stand for.
[[nodiscard]] bool holds_division(const ExprPtr& expr, const Analysis& analysis);

// The range of an integer expression in blocks of these extents. What it says holds, but it may say
// too much: terms that depend on each other are taken as if they did not. Nothing where a bound
// depends on sizes or memory.
[[nodiscard]] std::optional<IndexRange> range_of(const ExprPtr& expr, const Analysis& analysis,
                                                 const Dim3& block);

}  // namespace regraph::affine
