#include "eval/model/sampling.h"

#include "eval/model/block_spread.h"
#include "eval/model/local_memory.h"
#include "eval/model/prepared_launch.h"
#include "eval/verify/bench_sample.h"
#include "ptx/decode/code.h"
#include "ptx/memory/module_memory.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <string>
#include <utility>

namespace regraph {
namespace {

// Warp instructions one sampled block may take: far beyond any kernel worth timing.
constexpr std::uint64_t kSampleInstructions = 400'000'000;
// And those that the look at other blocks may take, or as many as the representatives took.
constexpr std::uint64_t kSpreadInstructions = 500'000;
// Representatives this far from the mean of other blocks do not stand for them.
constexpr double kAlike = 0.2;

ptx::CacheGeometry geometry_of(const DeviceSpec& device, const Occupancy& occupancy,
                               std::int64_t shared_bytes_per_block) {
  ptx::CacheGeometry geometry;
  geometry.sm_count = device.sm_count;
  geometry.resident_blocks_per_sm = occupancy.blocks_per_sm;
  geometry.l1_bytes = l1_bytes(device, occupancy, shared_bytes_per_block);
  geometry.l2_bytes = device.l2_full_speed_bytes;
  return geometry;
}

struct SampledTraffic {
  ptx::Fault fault;  // of the kernel, met on the way
  Result<ptx::CacheTraffic> traffic = ptx::CacheTraffic{};
};

// Error: the launch cannot be prepared.
Result<SampledTraffic> sample_traffic(const Problem& problem, const ptx::Program& program,
                                      const ConcreteLaunch& launch, const Symbols& symbols,
                                      const ptx::CacheGeometry& geometry,
                                      const Cancellation& cancellation, ThreadBudget* threads) {
  auto prepared = prepare_launch(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  ptx::CacheSimulationLimits limits;
  limits.threads = threads;
  SampledTraffic result;
  result.traffic = ptx::simulate_caches(program, prepared->arguments, prepared->memory, geometry,
                                        limits, cancellation, &prepared->variables, &result.fault);
  return result;
}

struct SampledBlocks {
  ptx::RunResult run;
  double spread_error = 0.0;  // of work a block; 0 where blocks are alike
};

double instructions_a_block(const ptx::Profile& profile) {
  double sum = 0.0;
  for (const ptx::InstructionProfile& one : profile.instructions)
    sum += static_cast<double>(one.warp_executions);
  return sum / static_cast<double>(std::max<std::uint64_t>(profile.blocks, 1));
}

// Error: the launch cannot be prepared.
Result<SampledBlocks> run_representatives(const Problem& problem, const ptx::Program& program,
                                          const ConcreteLaunch& launch, const Symbols& symbols,
                                          const Cancellation& cancellation) {
  auto prepared = prepare_launch(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  ptx::RunOptions options;
  options.variables = &prepared->variables;
  options.blocks = verify::representative_blocks(launch.grid);
  options.instruction_budget = kSampleInstructions * options.blocks.size();
  options.threads = 1;
  SampledBlocks sampled;
  sampled.run = ptx::run(program, prepared->arguments, prepared->memory, options, cancellation);
  if (!sampled.run.ok() || options.blocks.size() == launch.grid.count()) return sampled;
  const double own = instructions_a_block(sampled.run.profile);
  const auto taken =
      static_cast<std::uint64_t>(own * static_cast<double>(sampled.run.profile.blocks));
  const BlockSpread spread =
      measure_spread(program, *prepared, std::max(taken, kSpreadInstructions), cancellation);
  if (spread.blocks.empty() || std::abs(own - spread.mean) <= kAlike * spread.mean) return sampled;
  // As it is before the launch.
  prepared = prepare_launch(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  options.variables = &prepared->variables;
  options.blocks = spread.blocks;
  ptx::RunResult drawn =
      ptx::run(program, prepared->arguments, prepared->memory, options, cancellation);
  // What faults only now does so for what the others left, as a counter that runs out.
  if (!drawn.ok()) return sampled;
  sampled.run = std::move(drawn);
  sampled.spread_error = spread.relative_error;
  return sampled;
}

}  // namespace

Result<LaunchSample> sample_launch(const Problem& problem, const ptx::Program& program,
                                   const ConcreteLaunch& launch, const Symbols& symbols,
                                   const DeviceSpec& device, const Occupancy& occupancy,
                                   std::int64_t shared_bytes_per_block,
                                   const Cancellation& cancellation, ThreadBudget* threads) {
  // Each part has memory of its own: neither must find done what the other does.
  Result<SampledTraffic> traffic = SampledTraffic{};
  Result<SampledBlocks> sampled = SampledBlocks{};
  std::atomic<bool> faulty{false};
  ThreadBudget none;
  (threads != nullptr ? *threads : none).for_each_index(2, [&](std::size_t part) {
    if (part == 1) {
      // A fault is all that there will be to tell.
      if (!faulty) sampled = run_representatives(problem, program, launch, symbols, cancellation);
      return;
    }
    traffic = sample_traffic(problem, program, launch, symbols,
                             geometry_of(device, occupancy, shared_bytes_per_block), cancellation,
                             threads);
    faulty = traffic && traffic->fault.kind != ptx::FaultKind::none;
  });
  if (!traffic) return traffic.error();
  LaunchSample sample;
  // Of a block that may not be among the representatives.
  sample.fault = std::move(traffic->fault);
  if (sample.fault.kind != ptx::FaultKind::none) return sample;
  if (!sampled) return sampled.error();
  ptx::RunResult& run = sampled->run;
  if (run.fault.kind == ptx::FaultKind::cancelled) {
    return fail(ErrorCode::cancelled, "cancelled while the benchmark size was sampled");
  }
  sample.fault = std::move(run.fault);
  // A fault explains why the traffic could not be had either.
  if (sample.fault.kind != ptx::FaultKind::none) return sample;
  if (!traffic->traffic) return traffic->traffic.error();
  sample.traffic = *std::move(traffic->traffic);
  sample.profile = std::move(run.profile);
  sample.spread_error = sampled->spread_error;
  return sample;
}

Result<ptx::Profile> sample_blocks(const Problem& problem, const ptx::Program& program,
                                   const ConcreteLaunch& launch, const Symbols& symbols,
                                   const std::vector<std::uint64_t>& blocks,
                                   std::uint64_t instructions, const Cancellation& cancellation) {
  auto prepared = prepare_launch(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  ptx::RunOptions options;
  options.variables = &prepared->variables;
  options.count = false;
  options.instruction_budget = kSampleInstructions;
  options.threads = 1;
  ptx::Profile total;
  std::uint64_t taken = 0;
  // Doubling numbers of blocks, so that long ones are noticed early.
  for (std::size_t begin = 0, size = 1; begin < blocks.size() && taken < instructions; size *= 2) {
    const std::size_t end = std::min(begin + size, blocks.size());
    options.blocks.assign(blocks.begin() + static_cast<std::ptrdiff_t>(begin),
                          blocks.begin() + static_cast<std::ptrdiff_t>(end));
    ptx::RunResult run =
        ptx::run(program, prepared->arguments, prepared->memory, options, cancellation);
    if (run.fault.kind == ptx::FaultKind::cancelled) {
      return fail(ErrorCode::cancelled, "cancelled while the benchmark size was sampled");
    }
    if (!run.ok()) return fail(ErrorCode::invalid_argument, run.fault.message);
    if (total.instructions.empty()) total.instructions.resize(run.profile.instructions.size());
    for (std::size_t i = 0; i < total.instructions.size(); ++i) {
      ptx::InstructionProfile one = run.profile.instructions[i];
      taken += one.warp_executions;
      one.warp_executions += total.instructions[i].warp_executions;
      one.thread_executions += total.instructions[i].thread_executions;
      one.bulk_bytes += total.instructions[i].bulk_bytes;
      total.instructions[i] = one;
    }
    total.blocks += end - begin;
    begin = end;
  }
  return total;
}

}  // namespace regraph
