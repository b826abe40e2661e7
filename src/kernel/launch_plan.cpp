#include "kernel/launch_plan.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph {

namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array<std::int64_t, 3> kMaximumGrid = {2147483647, 65535, 65535};
constexpr Dim3 kMaximumBlock = {kMaxThreadsPerBlock, kMaxThreadsPerBlock, 64};
constexpr std::int64_t kMaximumDynamicSharedBytes = std::int64_t{1} << 30;
constexpr std::array<char, 3> kAxes = {'x', 'y', 'z'};

Error in_launch(const Launch& launch, const std::string& what) {
  const std::string place =
      launch.kernel.empty() ? std::string() : fmt::format("launch of '{}': ", launch.kernel);
  return fail(ErrorCode::invalid_argument, place + what);
}

}  // namespace

std::string LaunchPlan::text() const {
  std::string out;
  for (const Launch& launch : launches) {
    out += fmt::format("{} grid({}, {}, {}) block({}, {}, {}) smem({})", launch.kernel,
                       launch.grid[0].text(), launch.grid[1].text(), launch.grid[2].text(),
                       launch.block_extent(0).text(), launch.block_extent(1).text(),
                       launch.block_extent(2).text(), launch.dynamic_shared_bytes.text());
    if (!launch.arguments.empty()) {
      out += fmt::format(" args({})", fmt::join(launch.arguments, ", "));
    }
    out += '\n';
  }
  return out;
}

const Launch* LaunchPlan::launch_of(std::string_view kernel) const {
  for (const Launch& launch : launches) {
    if (launch.kernel == kernel) return &launch;
  }
  return nullptr;
}

IntegerExpression Launch::block_extent(std::size_t axis) const {
  if (block_follows_sizes()) return block_of_sizes->extents[axis];
  return std::array{block.x, block.y, block.z}[axis];
}

Result<Dim3> block_at(const Launch& launch, const Symbols& sizes) {
  std::array<std::int64_t, 3> extents = {1, 1, 1};
  std::string text;
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    const IntegerExpression extent = launch.block_extent(axis);
    const Result<std::int64_t> value = extent.evaluate(sizes);
    if (!value.ok()) {
      return Error{value.error().code,
                   in_launch(launch, fmt::format("block.{} = {}: {}", kAxes[axis], extent.text(),
                                                 value.error().message))
                       .message};
    }
    // Far beyond what is possible, and its product still a number.
    extents[axis] = std::clamp<std::int64_t>(*value, -1, std::int64_t{1} << 16);
    text += fmt::format("{}{}", axis == 0 ? "" : " x ", *value);
    if (!extent.is_constant()) text += fmt::format(" ({})", extent.text());
  }
  const auto [x, y, z] = extents;
  if (x < 1 || y < 1 || z < 1 || x > kMaximumBlock.x || y > kMaximumBlock.y ||
      z > kMaximumBlock.z || x * y * z > kMaxThreadsPerBlock) {
    std::string at;
    for (const auto& [name, value] : sizes)
      at += fmt::format("{}{}: {}", at.empty() ? "" : ", ", name, value);
    return in_launch(
        launch, fmt::format("a block of {} threads{} is not possible; CUDA allows 1 to {} "
                            "threads, at most 64 in z",
                            text, launch.block_follows_sizes() ? " at {" + at + "}" : std::string(),
                            kMaxThreadsPerBlock));
  }
  return Dim3{static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
              static_cast<std::uint32_t>(z)};
}

Result<ConcreteLaunch> concretise(const Launch& launch, const Symbols& sizes) {
  const Result<Dim3> known = block_at(launch, sizes);
  if (!known.ok()) return known.error();
  const Dim3 block = *known;
  Symbols symbols = sizes;
  symbols["bx"] = block.x;
  symbols["by"] = block.y;
  symbols["bz"] = block.z;

  ConcreteLaunch result{launch.kernel, {}, block, 0, launch.arguments};
  const std::array<std::uint32_t*, 3> extents = {&result.grid.x, &result.grid.y, &result.grid.z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const Result<std::int64_t> value = launch.grid[axis].evaluate(symbols);
    const std::string where = fmt::format("grid.{} = {}", kAxes[axis], launch.grid[axis].text());
    if (!value.ok()) {
      return Error{value.error().code,
                   in_launch(launch, where + ": " + value.error().message).message};
    }
    if (*value < 1 || *value > kMaximumGrid[axis]) {
      return in_launch(launch,
                       fmt::format("{} is {}, must be 1 to {}", where, *value, kMaximumGrid[axis]));
    }
    *extents[axis] = static_cast<std::uint32_t>(*value);
  }
  const Result<std::int64_t> shared = launch.dynamic_shared_bytes.evaluate(symbols);
  const std::string where = "dynamic shared memory = " + launch.dynamic_shared_bytes.text();
  if (!shared.ok()) {
    return Error{shared.error().code,
                 in_launch(launch, where + ": " + shared.error().message).message};
  }
  if (*shared < 0 || *shared > kMaximumDynamicSharedBytes) {
    return in_launch(launch, fmt::format("{} is {} bytes", where, *shared));
  }
  result.dynamic_shared_bytes = static_cast<std::uint64_t>(*shared);
  return result;
}

}  // namespace regraph
