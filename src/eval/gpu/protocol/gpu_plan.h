// A launch plan whose kernels a GPU worker has loaded.
#pragma once

#include "eval/compile/compiled_plan.h"
#include "eval/gpu/protocol/gpu_process.h"
#include "eval/verify/kernel_run.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/problem.h"

#include <cstdint>
#include <span>
#include <vector>

namespace regraph::gpu {

// Valid as long as the process that loaded it lives.
struct GpuPlan {
  std::vector<int> modules;  // each once
  struct Function {
    int module = 0;
    int index = 0;
  };
  std::vector<Function> functions;  // one a launch
};

// `sizes`: for which the plan will be launched; how much shared memory a kernel is granted depends
// on them. A failure that is not final is the candidate's: too much shared memory, say.
[[nodiscard]] Result<GpuPlan, Failure> load_on_gpu(GpuProcess& process,
                                                   const CompiledPlan& compiled,
                                                   const LaunchPlan& plan,
                                                   std::span<const Symbols> sizes,
                                                   const Cancellation& stop);

// The launches for one size, `addresses` being where the problem's buffers are (one an argument).
// Errors as verify::pack_parameters and concretise.
[[nodiscard]] Result<std::vector<LaunchMessage>> launches_of(
    const GpuPlan& loaded, const verify::LoadedPlan& plan, const Problem& problem,
    const Symbols& symbols, std::span<const std::uint64_t> addresses);

// Fills the __constant__ variables of every module. `inputs` has one entry an argument.
[[nodiscard]] Result<void, Failure> set_symbols(GpuProcess& process, const GpuPlan& loaded,
                                                const Problem& problem,
                                                const verify::Buffers& inputs,
                                                const Cancellation& stop);

}  // namespace regraph::gpu
