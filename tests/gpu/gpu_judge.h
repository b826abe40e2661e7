// What the GPU, not the interpreter, says of a candidate.
#pragma once

#include "eval/gpu/protocol/gpu_run.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/verifier.h"
#include "gpu/gpu_machine.h"

#include <memory>

namespace regraph::test {

// Has a worker process of its own; a new one after a candidate that killed it.
class GpuJudge {
 public:
  // `verifier` holds what the original makes of the problem's test sizes. `timeout` in seconds, of
  // a launch.
  VerificationResult judge(Verifier& verifier, const CompiledKernel& candidate,
                           const LaunchPlan& plan, double timeout = 2.0) {
    GpuMachine& machine = GpuMachine::instance();
    if (!process_ || !process_->alive()) process_ = machine.start();
    const CompiledPlan compiled = CompiledPlan::of(candidate, plan);
    const auto loaded = verify::load_plan(compiled, plan);
    if (!loaded.ok()) {
      VerificationResult result;  // unsupported
      result.message = loaded.error().message;
      return result;
    }
    auto on_gpu =
        gpu::load_on_gpu(*process_, compiled, plan, verifier.case_sizes(7), machine.never());
    if (!on_gpu.ok()) {
      VerificationResult result;
      result.verdict = verify::verdict_of(gpu::fault_kind(on_gpu.error()));
      result.message = on_gpu.error().message;
      return result;
    }
    return verifier.verify_on(
        [&](const Problem& varied, const Symbols& symbols, const verify::Buffers& inputs,
            const verify::RunSettings& settings) {
          const gpu::GpuRunner runner{*process_, varied,  *on_gpu,
                                      *loaded,   timeout, machine.never()};
          return gpu::run_on_gpu(runner, symbols, inputs, settings);
        },
        7, machine.never(), verify::CaseChoice::on_hardware);
  }

  [[nodiscard]] gpu::GpuProcess& process() { return *process_; }

 private:
  std::unique_ptr<gpu::GpuProcess> process_;
};

}  // namespace regraph::test
