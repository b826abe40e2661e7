// Preconditions several steps share.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "rewrite/step_rewriter.h"
#include "source/analysis.h"

namespace regraph::rewrite {

inline constexpr std::array<const char*, 3> kAxes = {"x", "y", "z"};

// Static shared memory a block may declare without opting in (CUDA programming guide, appendix on
// compute capabilities: 48 KB on every architecture).
inline constexpr std::int64_t kStaticSharedLimitBytes = 48 << 10;

// Refuses kernels the analyses cannot see through: opaque statements, calls to functions of the file
// that read thread indices.
[[nodiscard]] Status require_transparent(const KernelState& state, const source::Analysis& analysis);
// The one launch of the plan; refuses plans with several.
[[nodiscard]] Result<const Launch*> only_launch(const KernelState& state);

// Extent of the block along axis 0..2.
[[nodiscard]] std::uint32_t extent(const Dim3& dim, int axis);
void set_extent(Dim3& dim, int axis, std::uint32_t value);

// Replaces blockDim.{x,y,z} by the plan's numbers.
[[nodiscard]] source::Polynomial with_block_extents(const source::Polynomial& polynomial,
                                                    const Dim3& block);

// Bytes of all statically declared shared arrays.
[[nodiscard]] std::int64_t shared_bytes(const source::Kernel& kernel);

// Turns `if (c) return; rest` at the top level into `if (!c) { rest }`. Refuses other returns.
[[nodiscard]] Result<source::Block> without_early_returns(const source::Block& body);

// Pushes guards down to single statements, so that loops and barriers stand outside them:
//   if (g) { float s = 0; for (k) s += A[k]; C[i] = s; }
// becomes
//   float s = 0; for (k) { if (g) s += A[k]; } if (g) C[i] = s;
// Guards around code without loops or barriers stay as they are. Refuses where that would execute
// something it must not.
[[nodiscard]] Result<source::Block> flatten_guards(const source::Kernel& kernel);

// Both of the above applied to a copy of the kernel, with directly nested branches merged.
[[nodiscard]] Result<source::Kernel> normalised(const source::Kernel& kernel);

// Calls `visit(access, guards)` for every index expression, with the conjuncts (of if statements,
// ?: and &&) that hold when it is evaluated. Stores' targets are visited with is_store true.
struct GuardedAccess {
  const source::Expr* access;
  const source::Stmt* stmt;
  bool is_store;
  const std::vector<source::ExprPtr>& guards;
};
void for_each_guarded_access(const source::Block& block,
                             const std::function<void(const GuardedAccess&)>& visit);

}  // namespace regraph::rewrite
