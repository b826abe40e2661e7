// A launch plan run once on the GPU: fresh memory between guard pages, poisoned outputs, inputs
// mapped read-only. The counterpart of verify::run_kernel.
#pragma once

#include "eval/gpu/protocol/gpu_plan.h"

namespace regraph::gpu {

// What the GPU's failure is for a candidate that met it.
[[nodiscard]] ptx::FaultKind fault_kind(const Failure& failure);

// What does not depend on the case that is run.
struct GpuRunner {
  GpuProcess& process;
  const Problem& problem;
  const GpuPlan& loaded;
  const verify::LoadedPlan& plan;
  double timeout_seconds = 2.0;
  const Cancellation& stop;
  bool guarded = true;  // false: plain allocations of just the buffers' bytes, no guard pages
};

// Of `settings` the poison, the pointer offset (of guarded buffers) and the buffers of an earlier
// run are honoured; no profile comes back. Buffers begin at an unmapped page, or, with an offset,
// end at one as closely as it permits. A fault is a result, and may have ended the process. Errors
// as verify::run_kernel, and resource: the GPU's memory or the worker failed.
[[nodiscard]] Result<verify::KernelRun> run_on_gpu(const GpuRunner& runner, const Symbols& symbols,
                                                   const verify::Buffers& inputs,
                                                   const verify::RunSettings& settings);

}  // namespace regraph::gpu
