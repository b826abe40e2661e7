#include "rewrite/transform/possible_block.h"

#include "affine/block_geometry.h"
#include "affine/global_index.h"
#include "rewrite/forms/block_extents.h"
#include "rewrite/forms/kernel_state.h"
#include "source/analysis.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace regraph::rewrite {

namespace {

constexpr std::uint32_t kColumns = 32;
constexpr std::uint32_t kThreads = 256;

// The largest divisor of the number that is no larger than `most`.
std::uint32_t divisor_of(std::uint32_t number, std::uint32_t most) {
  std::uint32_t divisor = std::clamp<std::uint32_t>(most, 1, number);
  while (number % divisor != 0)
    --divisor;
  return divisor;
}

}  // namespace

Result<PossibleBlock> with_possible_block(const Kernel& kernel, Launch launch) {
  if (launch.block.count() <= kMaxThreadsPerBlock)
    return PossibleBlock{kernel.body, std::move(launch)};
  Kernel named = kernel;
  named.body = with_named_block_extents(kernel.body, launch.block);
  const Analysis analysis(named);
  std::uint32_t room = kThreads;
  for (int axis = 0; axis < 3; ++axis) {
    const std::uint32_t before = extent(launch.block, axis);
    const std::uint32_t threads = divisor_of(before, axis == 0 ? kColumns : room);
    room /= threads;
    if (threads == before) continue;
    const std::string letter = kAxes[static_cast<std::size_t>(axis)];
    if (Status status = require_uncoarsened_index(named, analysis, letter); !status)
      return status.error();
    set_extent(launch.block, axis, threads);
    IntegerExpression& grid = launch.grid[static_cast<std::size_t>(axis)];
    if (grid.symbols().contains("b" + letter)) continue;
    grid = IntegerExpression::multiply(grid, IntegerExpression(before / threads));
  }
  return PossibleBlock{std::move(named.body), std::move(launch)};
}

}  // namespace regraph::rewrite
