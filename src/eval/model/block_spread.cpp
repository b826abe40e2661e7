#include "eval/model/block_spread.h"

#include "base/random.h"

#include <algorithm>
#include <cmath>

namespace regraph {
namespace {

constexpr std::uint64_t kSeed = 0xB10C5;
// Blocks that are looked at: their mean is known to a tenth where they differ by half of it.
constexpr std::uint64_t kMostBlocks = 24;
constexpr std::size_t kFewestBlocks = 2;

std::uint64_t instructions_of(const ptx::Profile& profile) {
  std::uint64_t sum = 0;
  for (const ptx::InstructionProfile& one : profile.instructions)
    sum += one.warp_executions;
  return sum;
}

}  // namespace

std::vector<std::uint64_t> spread_blocks(std::uint64_t grid, std::uint64_t count) {
  const std::uint64_t parts = std::min(grid, count);
  std::vector<std::uint64_t> blocks(parts);
  for (std::uint64_t part = 0; part < parts; ++part) {
    // Exact for any grid: the parts differ by one block at most.
    const std::uint64_t begin = grid / parts * part + std::min(part, grid % parts);
    const std::uint64_t size = grid / parts + (part < grid % parts ? 1 : 0);
    blocks[part] = begin + random_bits(kSeed, part) % size;
  }
  // Fisher and Yates, so that those that are run first are of everywhere.
  for (std::uint64_t i = parts; i > 1; --i)
    std::swap(blocks[i - 1], blocks[random_bits(kSeed, i, 1) % i]);
  return blocks;
}

BlockSpread measure_spread(const ptx::Program& program, PreparedLaunch& prepared,
                           std::uint64_t instructions, const Cancellation& cancellation) {
  ptx::RunOptions options;
  options.variables = &prepared.variables;
  options.count = false;
  options.threads = 1;
  BlockSpread spread;
  std::uint64_t taken = 0;
  double squares = 0.0;
  for (const std::uint64_t block : spread_blocks(prepared.arguments.grid.count(), kMostBlocks)) {
    if (spread.blocks.size() >= kFewestBlocks && taken >= instructions) break;
    options.blocks = {block};
    // What one block takes beyond that says enough.
    options.instruction_budget = 8 * instructions;
    const ptx::RunResult run =
        ptx::run(program, prepared.arguments, prepared.memory, options, cancellation);
    if (!run.ok()) break;
    const std::uint64_t own = instructions_of(run.profile);
    taken += own;
    squares += static_cast<double>(own) * static_cast<double>(own);
    spread.blocks.push_back(block);
  }
  const auto count = static_cast<double>(spread.blocks.size());
  if (spread.blocks.size() < kFewestBlocks || taken == 0) return {};
  spread.mean = static_cast<double>(taken) / count;
  const double variance =
      std::max(squares / count - spread.mean * spread.mean, 0.0) * count / (count - 1.0);
  spread.relative_error = std::sqrt(variance / count) / spread.mean;
  std::sort(spread.blocks.begin(), spread.blocks.end());
  return spread;
}

}  // namespace regraph
