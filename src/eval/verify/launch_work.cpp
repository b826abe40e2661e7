#include "eval/verify/launch_work.h"

#include "eval/verify/bench_run.h"

#include <algorithm>
#include <set>

namespace regraph::verify {
namespace {

constexpr std::uint64_t kWorkSeed = 1;
constexpr std::uint64_t kWarpLanes = 32;

}  // namespace

Result<LaunchWork> estimate_work(const Problem& problem, const LoadedPlan& plan,
                                 const Symbols& symbols, double most_of_warp,
                                 const Cancellation& cancellation) {
  const BenchInputs inputs(problem, symbols, kWorkSeed);
  auto run = BenchRun::create(problem, plan, symbols, inputs, kWorkSeed, 0);
  if (!run.ok()) return run.error();
  LaunchWork work;
  for (std::size_t launch = 0; launch < (*run)->launches(); ++launch) {
    const ConcreteLaunch& shape = (*run)->launch(launch);
    const std::uint64_t blocks = shape.grid.count();
    const double warps = static_cast<double>((shape.block.count() + kWarpLanes - 1) / kWarpLanes);
    const auto budget = static_cast<std::uint64_t>(most_of_warp * warps);
    const std::set<std::uint64_t> sample = {0, blocks / 2, blocks - 1};
    double sum = 0.0;
    for (const std::uint64_t block : sample) {
      const BlockRecord record = (*run)->run_block(launch, block, budget, cancellation);
      if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
      double instructions = static_cast<double>(record.warp_instructions);
      if (record.fault.kind == ptx::FaultKind::instruction_budget) {
        instructions = static_cast<double>(budget);
      } else if (record.fault.kind != ptx::FaultKind::none) {
        return fail(ErrorCode::unsupported, record.fault.message);
      }
      sum += instructions;
      work.longest_warp = std::max(work.longest_warp, instructions / warps);
    }
    work.warp_instructions +=
        sum / static_cast<double>(sample.size()) * static_cast<double>(blocks);
  }
  return work;
}

}  // namespace regraph::verify
