#include "eval/verify/loaded_plan.h"

#include "eval/verify/warp_order.h"

#include <utility>

namespace regraph::verify {

namespace {

Result<ptx::Program> load(const CompiledKernel& kernel, const CompiledKernel& first,
                          const LoadedPlan& loaded) {
  // Parsing is the larger part.
  if (!loaded.empty() && kernel.ptx == first.ptx) {
    return loaded.front().program.with_entry(kernel.entry);
  }
  return ptx::Program::load(kernel.ptx, kernel.entry);
}

}  // namespace

Result<LoadedPlan> load_plan(const CompiledPlan& compiled, const LaunchPlan& plan) {
  if (plan.launches.empty() || compiled.launches.size() != plan.launches.size()) {
    return fail(ErrorCode::unsupported, "the launch plan has no launch");
  }
  LoadedPlan loaded;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const CompiledKernel& kernel = *compiled.launches[i];
    Result<ptx::Program> program = load(kernel, *compiled.launches.front(), loaded);
    if (!program.ok()) return program.error();
    LoadedLaunch one{std::move(*program), std::nullopt, plan.launches[i]};
    // Threads are renumbered for one block alone.
    const auto renumbered = one.launch.block_follows_sizes()
                                ? std::nullopt
                                : with_reversed_warps(kernel.ptx, one.launch.block);
    if (renumbered) {
      Result<ptx::Program> reversed = ptx::Program::load(*renumbered, kernel.entry);
      if (reversed.ok()) one.reversed_warps = std::move(*reversed);
    }
    loaded.push_back(std::move(one));
  }
  return loaded;
}

}  // namespace regraph::verify
