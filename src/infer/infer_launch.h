// A launch that fits a kernel's guards.
#pragma once

#include "infer/access_summary.h"
#include "kernel/launch_plan.h"
#include "source/host_launch.h"
#include "source/ir.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::infer {

// The block that the kernel's launch bounds and shared arrays ask for, else 256 threads in x,
// 16x16 or 8x8x4 by the axes it uses.
[[nodiscard]] Dim3 default_block(const source::Kernel& kernel);

// `block` with the extent in x that makes threadIdx.x / c number all rows of a block: for an index
// blockIdx.x * 32 + threadIdx.x / 16 it is 512.
[[nodiscard]] Dim3 block_of_fractions(const AccessSummary& summary, const Dim3& block);

struct InferredLaunch {
  Launch launch;
  // Sizes that only the grid is made of: the host's, or "blocks", "blocks_y", "blocks_z".
  std::vector<std::string> grid_sizes;
  // What axes were guessed from, one sentence each (likely_extent).
  std::vector<std::string> guesses;
};

// Those of the host's variables that `extent` is made of are added to `sizes`.
void add_host_sizes(const source::HostLaunch& host, const IntegerExpression& extent,
                    std::vector<std::string>& sizes);

// Grid extents from guards such as blockIdx.x * blockDim.x + threadIdx.x < n. An axis without a
// guard is as long as the host says (HostLaunch::open_grid), else as a condition that is no plain
// guard makes likely, else a size of its own.
[[nodiscard]] InferredLaunch infer_launch(const source::Kernel& kernel,
                                          const AccessSummary& summary, const Dim3& block,
                                          const std::optional<source::HostLaunch>& host);

}  // namespace regraph::infer
