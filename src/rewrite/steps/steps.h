// The built-in steps, one file each. Their legality is described on top of each file.
#pragma once

#include "rewrite/analysis/step_rewriter.h"

#include <memory>

namespace regraph::rewrite {

[[nodiscard]] std::unique_ptr<StepRewriter> make_coalesce_swap();
[[nodiscard]] std::unique_ptr<StepRewriter> make_block_size();
[[nodiscard]] std::unique_ptr<StepRewriter> make_thread_coarsen();
[[nodiscard]] std::unique_ptr<StepRewriter> make_smem_tile();
[[nodiscard]] std::unique_ptr<StepRewriter> make_smem_transpose();
[[nodiscard]] std::unique_ptr<StepRewriter> make_smem_pad();
[[nodiscard]] std::unique_ptr<StepRewriter> make_loop_unroll();
[[nodiscard]] std::unique_ptr<StepRewriter> make_restrict_ldg();
[[nodiscard]] std::unique_ptr<StepRewriter> make_launch_bounds();
[[nodiscard]] std::unique_ptr<StepRewriter> make_reduce_shuffle();
[[nodiscard]] std::unique_ptr<StepRewriter> make_cross_thread_reduction();
[[nodiscard]] std::unique_ptr<StepRewriter> make_smem_halo();
[[nodiscard]] std::unique_ptr<StepRewriter> make_atomic_privatize();
[[nodiscard]] std::unique_ptr<StepRewriter> make_grid_stride();
[[nodiscard]] std::unique_ptr<StepRewriter> make_vectorize_global();
[[nodiscard]] std::unique_ptr<StepRewriter> make_multi_accumulator();
[[nodiscard]] std::unique_ptr<StepRewriter> make_fast_math();

}  // namespace regraph::rewrite
