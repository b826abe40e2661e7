// slice_k: the strips of a tiled loop are dealt out to slices of the block along z, each with tiles
// of its own, and what the slices add up is added up in the end.
//
//   for (k0 = 0; k0 < K; k0 += D) { copy tile; barrier; sum += ...tile...; barrier; }
// becomes, with S slices,
//   for (k0 = z * D; k0 < K + z * D; k0 += S * D) {
//     if (k0 < K) copy tile[z]; barrier; if (k0 < K) sum += ...tile[z]...; barrier;
//   }
//   slices hand `sum` to the first one, which does what followed the loop
//
// For long contractions with few outputs: more threads a block, where there are too few blocks. The
// loop ends later in later slices, so that all threads meet the same barriers.
//
// Legal when nothing but associative and commutative accumulators leads from one strip to the next,
// their order may change, the kernel does not use the block's third axis, the loop stands at the
// top of the kernel, and nothing before it writes memory.
#include "rewrite/analysis/strip_accumulators.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/steps/step_rewriter.h"
#include "rewrite/transform/slice_strips.h"
#include "source/walk.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph::rewrite {
namespace {

struct Slices {
  int count = 0;
  StripLoop strips;
  std::vector<StripAccumulator> accumulators;
  Launch launch;  // afterwards
};

class SliceK final : public PlacedStep<Slices> {
 public:
  std::string_view id() const override { return "slice_k"; }
  std::vector<StepParameters> settings() const override {
    return {{{"slices", "2"}}, {{"slices", "4"}}, {{"slices", "8"}}};
  }

 protected:
  Result<Slices> find(const KernelAnalysis& kernel,
                      const StepParameters& parameters) const override {
    auto count = integer_parameter(parameters, "slices");
    if (!count) return count.error();
    if (*count < 2) return fail(ErrorCode::invalid_argument, "'slices' must be at least 2");
    auto launch = kernel.launch();
    if (!launch) return launch.error();
    if (const Status& status = kernel.transparent(); !status) return status.error();
    const source::Analysis& analysis = kernel.analysis();
    if (!analysis.has_shared()) return refuse("the kernel has no shared tiles");
    if (analysis.uses_warp_intrinsics()) return refuse("warp intrinsics encode the block's shape");
    if ((*launch)->block.z != 1) return refuse("the block has a third axis already");
    for (const char* builtin : {"threadIdx.z", "blockDim.z"}) {
      if (analysis.uses_builtin(builtin))
        return refuse(std::string("the kernel uses ") + builtin + ", along which slices would lie");
    }
    Slices slices;
    slices.count = *count;
    auto strips = find_strip_loop(kernel.kernel(), analysis);
    if (!strips) return strips.error();
    slices.strips = std::move(*strips);
    if (Status status = require_plain_surroundings(kernel.kernel(), analysis, slices.strips);
        !status) {
      return status.error();
    }
    auto accumulators = accumulators_of(slices.strips, kernel.kernel(), analysis);
    if (!accumulators) return accumulators.error();
    slices.accumulators = std::move(*accumulators);
    std::vector<Reduction> reductions;
    for (const StripAccumulator& accumulator : slices.accumulators)
      reductions.push_back(accumulator.reduction);
    if (Status status = permit_reordering(reductions, kernel.problem()); !status)
      return status.error();
    const std::int64_t bytes = sliced_shared_bytes(
        kernel.kernel(), slices.strips, slices.accumulators, (*launch)->block, slices.count);
    if (Status status = require_shared_bytes(bytes, kernel, "tiles and slots of the slices need");
        !status) {
      return status.error();
    }
    slices.launch = **launch;
    slices.launch.block.z = static_cast<std::uint32_t>(slices.count);
    if (Status status = require_possible(slices.launch, kernel, "the launch would not be valid: ");
        !status) {
      return status.error();
    }
    return slices;
  }

  KernelState rewrite(const KernelAnalysis& kernel, const Slices& slices) const override {
    KernelState result = kernel.state();
    const Dim3 before = result.plan.launches.front().block;
    result.unit.kernel.body =
        slice_strips(kernel.kernel(), slices.strips, slices.accumulators, before, slices.count);
    result.plan.launches.front() = slices.launch;
    if (result.unit.kernel.launch_bounds_threads) {
      result.unit.kernel.launch_bounds_threads = static_cast<int>(slices.launch.block.count());
    }
    if (std::any_of(
            slices.accumulators.begin(), slices.accumulators.end(),
            [](const StripAccumulator& accumulator) { return accumulator.reduction.rounds(); })) {
      rely_on(result, kReordersSums);
    }
    return result;
  }

 private:
  // Whether what stands before the loop may be done by each slice, and what follows by the first.
  static Status require_plain_surroundings(const source::Kernel& kernel,
                                           const source::Analysis& analysis,
                                           const StripLoop& strips) {
    const auto loop =
        std::find_if(kernel.body.begin(), kernel.body.end(),
                     [&](const source::StmtPtr& stmt) { return stmt.get() == strips.loop; });
    if (loop == kernel.body.end())
      return refuse("the loop over strips stands in another statement");
    if (source::to<source::ForLoop>(*strips.loop).declaration() == nullptr)
      return refuse("the loop's counter is declared before it");
    const source::Block before(kernel.body.begin(), loop);
    const source::Block after(std::next(loop), kernel.body.end());
    Status status;
    source::walk(before, [&](const source::Stmt& stmt) {
      if (source::is<source::Return>(stmt) || source::is<source::Jump>(stmt))
        status = refuse("some threads leave before the loop over strips");
      if (source::is<source::Evaluation>(stmt))
        status = refuse("a call before the loop over strips would be made by each slice");
      const auto* assignment = source::as<source::Assignment>(stmt);
      if (assignment == nullptr) return;
      const auto* place = source::place_variable(*assignment->target);
      const source::Variable* variable = place != nullptr ? analysis.local(place->name) : nullptr;
      if (variable == nullptr || variable->is_pointer ||
          variable->storage != source::Storage::automatic) {
        status = refuse("memory is written before the loop over strips");
      }
    });
    source::walk(after, [&](const source::Stmt& stmt) {
      if (source::is<source::Barrier>(stmt))
        status = refuse("a barrier follows the loop over strips");
    });
    return status;
  }
};

}  // namespace

std::unique_ptr<StepRewriter> make_slice_k() {
  return std::make_unique<SliceK>();
}

}  // namespace regraph::rewrite
