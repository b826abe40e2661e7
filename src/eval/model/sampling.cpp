#include "eval/model/sampling.h"

#include <algorithm>
#include <set>

#include "eval/verify/inputs.h"
#include "eval/verify/parameters.h"

namespace regraph {
namespace {

// Elements of the repeating pattern that fills large buffers; a multiple of the page size in bytes for
// every element type.
constexpr std::size_t kPatternElements = 64 << 10;
// Inputs of the timing sample; verification draws its own.
constexpr std::uint64_t kPatternSeed = 0x5EED;
// Warp instructions one sampled block may take: far beyond any kernel worth timing.
constexpr std::uint64_t kSampleInstructions = 400'000'000;
// Share of the L2 that one stream of data effectively finds, hashing and partitions considered.
constexpr double kEffectiveL2Share = 1.0;

}  // namespace

std::vector<std::uint64_t> representative_blocks(const Dim3& grid) {
  const std::uint64_t count = grid.count();
  if (count <= 4) {
    std::vector<std::uint64_t> all(count);
    for (std::uint64_t block = 0; block < count; ++block) all[block] = block;
    return all;
  }
  // Two interior blocks: in grids worth timing the edge is a small part.
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
                                   const Cancellation& cancellation) {
  ptx::DeviceMemory memory;
  std::vector<std::uint64_t> addresses(problem.arguments.size(), 0);
  for (std::size_t index = 0; index < problem.arguments.size(); ++index) {
    const Argument& argument = problem.arguments[index];
    if (!argument.is_pointer) continue;
    auto count = argument.element_count(symbols);
    if (!count) return count.error();
    std::vector<std::byte> pattern(kPatternElements * size_in_bytes(argument.type));
    verify::fill(argument, verify::Distribution::manifest, kPatternSeed, index, pattern);
    auto address = memory.allocate_pattern(
        argument.name, static_cast<std::size_t>(*count) * size_in_bytes(argument.type),
        argument.direction == Direction::in ? ptx::BufferAccess::read_only
                                            : ptx::BufferAccess::read_write,
        pattern);
    if (!address) return address.error();
    addresses[index] = *address;
  }
  auto parameters = verify::pack_parameters(problem, program, symbols, addresses);
  if (!parameters) return parameters.error();
  ptx::LaunchArguments arguments;
  arguments.grid = launch.grid;
  arguments.block = launch.block;
  arguments.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared_bytes);
  arguments.parameters = std::move(*parameters);

  ptx::CacheGeometry geometry;
  geometry.sm_count = device.sm_count;
  geometry.resident_blocks_per_sm = occupancy.blocks_per_sm;
  const std::int64_t resident_shared =
      (shared_bytes_per_block + device.reserved_shared_bytes) * occupancy.blocks_per_sm;
  geometry.l1_bytes = static_cast<std::uint64_t>(
      std::max<std::int64_t>(device.unified_bytes - std::max<std::int64_t>(resident_shared, 0), 16 << 10));
  geometry.l2_bytes =
      static_cast<std::uint64_t>(static_cast<double>(device.l2_full_speed_bytes) * kEffectiveL2Share);
  LaunchSample sample;
  auto traffic = ptx::simulate_caches(program, arguments, memory, geometry, {}, cancellation);
  if (!traffic) return traffic.error();
  sample.traffic = *traffic;

  ptx::RunOptions options;
  options.blocks = representative_blocks(launch.grid);
  options.instruction_budget = kSampleInstructions;
  options.threads = 1;
  ptx::RunResult run = ptx::run(program, arguments, memory, options, cancellation);
  if (!run.ok()) {
    const ErrorCode code =
        run.fault.kind == ptx::FaultKind::cancelled ? ErrorCode::cancelled : ErrorCode::invalid_argument;
    return fail(code, "at the benchmark size: " + run.fault.message);
  }
  sample.profile = std::move(run.profile);
  return sample;
}

}  // namespace regraph
