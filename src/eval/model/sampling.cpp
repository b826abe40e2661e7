#include "eval/model/sampling.h"

#include "eval/model/local_memory.h"
#include "eval/verify/inputs.h"
#include "eval/verify/parameters.h"
#include "ptx/decode/code.h"
#include "ptx/memory/module_memory.h"

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <utility>

namespace regraph {
namespace {

// Elements of the repeating pattern that fills large buffers; a multiple of the page size in bytes
// for every element type.
constexpr std::size_t kPatternElements = 64 << 10;
constexpr std::size_t kPage = 4096;
// Inputs of the timing sample; verification draws its own.
constexpr std::uint64_t kPatternSeed = 0x5EED;
// Warp instructions one sampled block may take: far beyond any kernel worth timing.
constexpr std::uint64_t kSampleInstructions = 400'000'000;
// What one launch may address. Buffers are backed only where touched, but addresses must exist.
constexpr std::uint64_t kMostBufferBytes = std::uint64_t{1} << 40;

// Allocates and fills the buffers; returns one address an argument, 0 for scalars.
Result<std::vector<std::uint64_t>> make_buffers(const Problem& problem, const Symbols& symbols,
                                                ptx::DeviceMemory& memory,
                                                ptx::ModuleMemory& variables) {
  std::vector<std::uint64_t> addresses(problem.arguments.size(), 0);
  for (std::size_t index = 0; index < problem.arguments.size(); ++index) {
    const Argument& argument = problem.arguments[index];
    if (!argument.has_content()) continue;
    auto count = argument.element_count(symbols);
    if (!count) return count.error();
    const std::size_t size = size_in_bytes(argument.type);
    if (*count < 0 || static_cast<std::uint64_t>(*count) > kMostBufferBytes / size) {
      return fail(ErrorCode::invalid_argument, "at the benchmark size '" + argument.name +
                                                   "' has " + std::to_string(*count) +
                                                   " elements, more than any device holds");
    }
    const auto bytes = static_cast<std::size_t>(*count) * size;
    std::size_t drawn = argument.is_symbol ? bytes : kPatternElements * size;
    if (problem.is_whole(symbols, argument) && !argument.is_symbol)
      drawn = (bytes + kPage - 1) / kPage * kPage;
    std::vector<std::byte> pattern(drawn);
    verify::fill_input(problem, argument, symbols, verify::Distribution::manifest, kPatternSeed,
                       index, pattern);
    if (argument.is_symbol) {
      if (Status status = verify::set_symbol(argument, pattern, variables); !status)
        return status.error();
      continue;
    }
    auto address =
        memory.allocate_pattern(argument.name, bytes,
                                argument.direction == Direction::in ? ptx::BufferAccess::read_only
                                                                    : ptx::BufferAccess::read_write,
                                pattern);
    if (!address) return address.error();
    addresses[index] = *address;
  }
  return addresses;
}

// What a launch works on, as it is before the launch.
struct PreparedLaunch {
  ptx::DeviceMemory memory;
  ptx::ModuleMemory variables;
  ptx::LaunchArguments arguments;
};

Result<PreparedLaunch> prepare(const Problem& problem, const ptx::Program& program,
                               const ConcreteLaunch& launch, const Symbols& symbols) {
  ptx::DeviceMemory memory;
  auto variables = ptx::ModuleMemory::create(program);
  if (!variables) return variables.error();
  auto addresses = make_buffers(problem, symbols, memory, *variables);
  if (!addresses) return addresses.error();
  auto parameters =
      verify::pack_parameters(problem, program, launch.arguments, symbols, *addresses);
  if (!parameters) return parameters.error();
  ptx::LaunchArguments arguments;
  arguments.grid = launch.grid;
  arguments.block = launch.block;
  arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
  arguments.parameters = std::move(*parameters);
  return PreparedLaunch{std::move(memory), std::move(*variables), std::move(arguments)};
}

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
  auto prepared = prepare(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  ptx::CacheSimulationLimits limits;
  limits.threads = threads;
  SampledTraffic result;
  result.traffic = ptx::simulate_caches(program, prepared->arguments, prepared->memory, geometry,
                                        limits, cancellation, &prepared->variables, &result.fault);
  return result;
}

// Error: the launch cannot be prepared.
Result<ptx::RunResult> run_representatives(const Problem& problem, const ptx::Program& program,
                                           const ConcreteLaunch& launch, const Symbols& symbols,
                                           const Cancellation& cancellation) {
  auto prepared = prepare(problem, program, launch, symbols);
  if (!prepared) return prepared.error();
  ptx::RunOptions options;
  options.variables = &prepared->variables;
  options.blocks = representative_blocks(launch.grid);
  options.instruction_budget = kSampleInstructions;
  options.threads = 1;
  return ptx::run(program, prepared->arguments, prepared->memory, options, cancellation);
}

}  // namespace

std::vector<std::uint64_t> representative_blocks(const Dim3& grid) {
  const std::uint64_t count = grid.count();
  if (count <= 4) {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t block = 0; block < count; ++block)
      all[block] = block;
    return all;
  }
  std::set<std::uint64_t> blocks;
  for (const double at : {0.37, 0.61}) {
    const auto x = static_cast<std::uint64_t>(at * grid.x);
    const auto y = static_cast<std::uint64_t>(at * grid.y);
    const auto z = static_cast<std::uint64_t>(at * grid.z);
    blocks.insert((z * grid.y + y) * grid.x + x);
  }
  return {blocks.begin(), blocks.end()};
}

Result<LaunchSample> sample_launch(const Problem& problem, const ptx::Program& program,
                                   const ConcreteLaunch& launch, const Symbols& symbols,
                                   const DeviceSpec& device, const Occupancy& occupancy,
                                   std::int64_t shared_bytes_per_block,
                                   const Cancellation& cancellation, ThreadBudget* threads) {
  // Each part has memory of its own: neither must find done what the other does.
  Result<SampledTraffic> traffic = SampledTraffic{};
  Result<ptx::RunResult> run = ptx::RunResult{};
  std::atomic<bool> faulty{false};
  ThreadBudget none;
  (threads != nullptr ? *threads : none).for_each_index(2, [&](std::size_t part) {
    if (part == 1) {
      // A fault is all that there will be to tell.
      if (!faulty) run = run_representatives(problem, program, launch, symbols, cancellation);
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
  if (!run) return run.error();
  if (run->fault.kind == ptx::FaultKind::cancelled) {
    return fail(ErrorCode::cancelled, "cancelled while the benchmark size was sampled");
  }
  sample.fault = std::move(run->fault);
  // A fault explains why the traffic could not be had either.
  if (sample.fault.kind != ptx::FaultKind::none) return sample;
  if (!traffic->traffic) return traffic->traffic.error();
  sample.traffic = *std::move(traffic->traffic);
  sample.profile = std::move(run->profile);
  return sample;
}

Result<ptx::Profile> sample_blocks(const Problem& problem, const ptx::Program& program,
                                   const ConcreteLaunch& launch, const Symbols& symbols,
                                   const std::vector<std::uint64_t>& blocks,
                                   std::uint64_t instructions, const Cancellation& cancellation) {
  auto prepared = prepare(problem, program, launch, symbols);
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
      total.instructions[i] = one;
    }
    total.blocks += end - begin;
    begin = end;
  }
  return total;
}

}  // namespace regraph
