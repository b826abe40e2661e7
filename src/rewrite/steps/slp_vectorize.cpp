// slp_vectorize: neighbouring elements that a thread loads or stores one by one are moved by one
// wide access (superword-level parallelism).
//
//   for (k = lane; k < K / 8; k += 32)
//     for (j = 0; j < 8; ++j) sum += (w[k] >> 4 * j & 15) * x[8 * k + j];
// becomes
//   for (k = lane; k < K / 8; k += 32) {
//     v = wide load of x[8 * k];
//     sum += (w[k] >> 0 & 15) * v.x;  sum += (w[k] >> 4 & 15) * v.y;  ...
//   }
//
// Loops of constant length are written out, so that neighbours stand in one block of code. What is
// accessed whenever that block is run is put together, where distances are known and a vector's
// first element is at a multiple of its size; sizes that have to be divisible for that are asked
// when the kernel runs, and where they are not, the code is the original. Threads keep what they
// have, unlike in vectorize_global and vectorize_window, so that it applies to what is left after
// loops were dealt out to lanes.
//
// Legal where buffers do not overlap and threads share no memory: an array that is not written is
// loaded earlier; one that is written only where nothing else in the block sees when
// (neighbour_vectors.h). Alignment is what 'assume: {align}' grants.
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/neighbour_vectors.h"
#include "rewrite/transform/written_out_loops.h"
#include "source/build.h"

#include <memory>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

class SlpVectorize final : public TriedStep {
 public:
  std::string_view id() const override { return "slp_vectorize"; }
  std::vector<StepParameters> settings() const override { return {{}}; }

  Result<KernelState> apply(const KernelAnalysis& kernel,
                            const StepParameters& /*parameters*/) const override {
    const Requirements needed = {.distinct_buffers = "a load could be moved before a store",
                                 .shared = SharedMemory::none,
                                 .known_calls = true};
    if (Status status = require(needed, kernel); !status) return status.error();
    if (kernel.analysis().has_barrier()) return refuse("threads wait for each other");
    auto form = kernel.single_exit();
    if (!form) return form.error();
    Kernel code = (*form)->kernel;
    Names names(code);
    const Block original = code.body;
    code.body = with_loops_written_out(original, names);
    const Analysis analysis(code);
    // Elements of a byte are the most that one access moves.
    constexpr int kMost = 16;
    NeighbourVectors vectors(code, analysis, kernel.problem(), names, kMost);
    Block wide = vectors.run(code.body);
    if (vectors.vectors() == 0) {
      return refuse(
          "no neighbouring elements are accessed whenever the same code is run, or none of them "
          "is known to start a vector");
    }
    const ExprPtr divisible = conjunction(vectors.conditions());
    KernelState result = kernel.state();
    code.body = divisible ? Block{branch(divisible, std::move(wide), names.renamed(original))}
                          : std::move(wide);
    result.unit.kernel = std::move(code);
    rely_on(result, kNeedsDistinctBuffers);
    rely_on_alignment(result, kernel.problem().assume.align);
    return result;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slp_vectorize() {
  return std::make_unique<SlpVectorize>();
}

}  // namespace regraph::rewrite
