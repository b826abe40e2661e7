// Preconditions several steps share.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/step_rewriter.h"
#include "source/analysis.h"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace regraph::rewrite {

inline constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};

// Static shared memory a block may declare without opting in (CUDA programming guide, appendix on
// compute capabilities: 48 KB on every architecture).
inline constexpr std::int64_t kStaticSharedLimitBytes = 48 << 10;

// Refuses kernels the analyses cannot see through: opaque statements, calls to functions of the
// file that read thread indices.
[[nodiscard]] Status require_transparent(const KernelState& state,
                                         const source::Analysis& analysis);
// The one launch of the plan; refuses plans with several.
[[nodiscard]] Result<const Launch*> only_launch(const KernelState& state);

// Extent of the block along axis 0..2.
[[nodiscard]] std::uint32_t extent(const Dim3& dim, int axis);
void set_extent(Dim3& dim, int axis, std::uint32_t value);

// Replaces blockDim.{x,y,z} by the plan's numbers.
[[nodiscard]] source::Polynomial with_block_extents(const source::Polynomial& polynomial,
                                                    const Dim3& block);

// A value of zeros of the type, which is `scalar` or one of CUDA's vector types; null for others.
[[nodiscard]] source::ExprPtr zero_value(const std::string& type, std::optional<ScalarType> scalar);

// The thread's number within the block, x fastest, as kernel code.
[[nodiscard]] source::ExprPtr linear_thread(const Dim3& block);

// Bytes of all statically declared shared arrays.
[[nodiscard]] std::int64_t shared_bytes(const source::Kernel& kernel);

}  // namespace regraph::rewrite
