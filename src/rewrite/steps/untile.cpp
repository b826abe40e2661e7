// untile: tiles that somebody laid out by hand go, and the loop over their strips becomes the plain
// loop that they were made of.
//
//   for (t = 0; t < (K + 15) / 16; ++t) {
//     As[y][x] = row < M && t * 16 + x < K ? A[row * K + t * 16 + x] : 0;  Bs[y][x] = ...;
//     barrier;  for (k = 0; k < 16; ++k) sum += As[y][k] * Bs[k][x];  barrier;
//   }
//   if (row < M && col < N) C[row * N + col] = sum;
// becomes
//   if (row < M && col < N) {
//     for (k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
//     C[row * N + col] = sum;
//   }
//
// That is slower by itself, and what steps that lay out tiles by themselves begin with: contraction
// and slice_reduction do it on the way. Legal where each piece is: copies in shared memory are read
// where they came from (transform/staged_copies.h), strips become one loop with the same iterations
// (loop_coalescing.h), which ends where these add zeros (trip_count_trimming.h), under the
// condition of the store (guarded_loops.h).
#include "rewrite/forms/dead_guards.h"
#include "rewrite/forms/local_pointers.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/flat_block.h"
#include "rewrite/transform/global_indices.h"
#include "rewrite/transform/grid_axes.h"
#include "rewrite/transform/grid_by_block.h"
#include "rewrite/transform/guarded_loops.h"
#include "rewrite/transform/loop_coalescing.h"
#include "rewrite/transform/staged_copies.h"
#include "rewrite/transform/strip_headers.h"
#include "rewrite/transform/trip_count_trimming.h"
#include "rewrite/transform/unused_values.h"
#include "source/mutator.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace regraph::rewrite {
namespace {

// Blocks that declare nothing.
class ScopeOpener final : public source::Mutator {
 public:
  using Mutator::run;

 private:
  void append(const source::StmtPtr& stmt, source::Block& out) override {
    const source::StmtPtr inner = run(stmt);
    const auto* scope = source::as<source::Scope>(inner);
    const bool opens =
        scope != nullptr && std::ranges::none_of(scope->body, [](const source::StmtPtr& part) {
          return source::is<source::Declaration>(part);
        });
    if (opens) {
      out.insert(out.end(), scope->body.begin(), scope->body.end());
    } else {
      out.push_back(inner);
    }
  }
};

class Untile final : public StepRewriter {
 public:
  std::string_view id() const override { return "untile"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

  // Whether all of it goes is not known before it is gone.
  Status match(const KernelAnalysis& kernel, const StepParameters& parameters) const override {
    const auto state = apply(kernel, parameters);
    return state ? Status() : Status(state.error());
  }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& /*parameters*/) const override {
    if (const Status& status = kernel.transparent(); !status) return status.error();
    if (!kernel.analysis().has_shared()) return refuse("the kernel uses no shared memory");
    if (!kernel.problem().assume.noalias)
      return refuse("the problem does not grant 'assume: {noalias: true}'");
    if (kernel.analysis().uses_warp_intrinsics())
      return refuse("warp intrinsics tie the result to which threads share a warp");
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if ((*launch)->block_follows_sizes())
      return refuse("the block's extents follow the sizes, and tiles of one size would be assumed");
    auto form = kernel.single_exit();
    if (!form) return form.error();
    source::Kernel direct = without_local_pointers((*form)->kernel);
    Launch changed = **launch;
    changed.dynamic_shared_bytes = 0;
    take_axes(direct, changed);
    if (Status status = require_possible(changed, kernel, "the launch would not be valid: ");
        !status)
      return status.error();
    auto plain = without_tiles(direct, changed.block);
    if (!plain) return plain.error();
    KernelState result = kernel.state();
    result.unit.kernel = one_loop(std::move(*plain), changed.block, kernel.problem());
    GridByBlock follows = with_grid_by_block(result.unit.kernel, changed);
    result.unit.kernel.body = std::move(follows.body);
    result.plan.launches.front() = std::move(follows.launch);
    rely_on(result, kNeedsDistinctBuffers);
    return result;
  }

 private:
  static Result<source::Kernel> without_tiles(const source::Kernel& kernel, const Dim3& block) {
    source::Kernel strips = kernel;
    strips.body = with_plain_strips(kernel, block);
    auto plain = without_staged_copies(strips, block);
    if (!plain) return plain;
    const source::Analysis analysis(*plain);
    if (!analysis.has_shared()) return plain;
    // What is left says why it has to stay.
    return without_staged_copy(*plain, analysis, block).error();
  }

  // Threads and blocks along the same axis as one place, where that can be had.
  static void take_axes(source::Kernel& kernel, Launch& launch) {
    if (auto rows = with_block_of_rows(kernel, launch)) {
      kernel.body = std::move(rows->body);
      launch = std::move(rows->launch);
    }
    if (auto exchanged = with_grid_exchanged(kernel, launch)) {
      kernel.body = std::move(exchanged->body);
      launch = std::move(exchanged->launch);
    }
  }

  static source::Kernel one_loop(source::Kernel kernel, const Dim3& block, const Problem& problem) {
    kernel.body = without_unused_values(std::move(kernel.body));
    CoalescedLoops merged = with_coalesced_loops(kernel, block, problem);
    kernel.body = without_unused_values(std::move(merged.body));
    kernel.body = with_trimmed_trip_counts(kernel, merged.depths);
    kernel.body = with_guarded_loops(kernel);
    kernel.body = without_dead_guards(kernel);
    kernel.body = without_unused_values(std::move(kernel.body));
    kernel.body = with_global_indices(kernel, block);
    kernel.body = ScopeOpener().run(without_unused_values(std::move(kernel.body)));
    return kernel;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_untile() {
  return std::make_unique<Untile>();
}

}  // namespace regraph::rewrite
