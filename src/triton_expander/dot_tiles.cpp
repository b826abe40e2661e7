#include "triton_expander/dot_tiles.h"

#include "triton_expander/triton_expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <regex>
#include <utility>

namespace regraph::triton {
namespace {

struct Shape {
  int rows;
  int columns;
  int warps;
  int stages;
};
// What Triton's users list for its autotuner, the largest first: a warpgroup for each 64 rows of
// large tiles, loads ahead as far as shared memory goes.
constexpr std::array<Shape, 8> kShapes = {{{128, 256, 8, 3},
                                           {256, 128, 8, 3},
                                           {128, 128, 8, 4},
                                           {128, 128, 4, 4},
                                           {64, 256, 4, 4},
                                           {64, 128, 4, 4},
                                           {128, 64, 4, 4},
                                           {64, 64, 4, 4}}};
// Of a row of a factor's tile: the widest swizzle that wgmma reads.
constexpr int kRowBytes = 128;
constexpr int kSharedBytes = 227 * 1024;  // of a block, at most, on sm_90

// Of the narrowest buffer: factors are no wider than results.
int element_bytes(const KernelText& text) {
  int bytes = 8;
  for (const TypedParameter& parameter : text.parameters) {
    if (parameter.is_pointer)
      bytes = std::min(bytes, static_cast<int>(size_in_bytes(parameter.type)));
  }
  return bytes;
}

bool is_extent(const KernelText& text, const std::string& name) {
  return text.constants.contains(name) && is_tile(text, name);
}

}  // namespace

std::optional<DotTile> dot_tile_of(const KernelText& text) {
  static const std::regex kZeros(R"(tl\.zeros\(\s*[\(\[]\s*(\w+)\s*,\s*(\w+)\s*[\)\]])");
  static const std::regex kStride(
      R"(for\s+\w+\s+in\s+(?:tl\.)?range\([^,\n]+,[^,\n]+,\s*(\w+)\s*[,\)])");
  std::smatch zeros;
  if (text.module.find("tl.dot(") == std::string::npos ||
      !std::regex_search(text.module, zeros, kZeros))
    return std::nullopt;
  DotTile tile{zeros[1], zeros[2], ""};
  auto next = std::sregex_iterator(text.module.begin(), text.module.end(), kStride);
  for (; next != std::sregex_iterator() && tile.depth.empty(); ++next) {
    if (is_extent(text, (*next)[1])) tile.depth = (*next)[1];
  }
  const bool distinct =
      tile.rows != tile.columns && tile.rows != tile.depth && tile.columns != tile.depth;
  if (!distinct || tile.depth.empty() || !is_extent(text, tile.rows) ||
      !is_extent(text, tile.columns))
    return std::nullopt;
  return tile;
}

std::vector<StepProposal> dot_tile_proposals(const KernelText& text) {
  const auto tile = dot_tile_of(text);
  if (!tile) return {};
  std::vector<StepProposal> proposals;
  const int bytes = element_bytes(text);
  const int depth = kRowBytes / bytes;
  for (const Shape& shape : kShapes) {
    if ((shape.rows + shape.columns) * depth * bytes * shape.stages > kSharedBytes) continue;
    StepProposal proposal;
    proposal.step = "dot_tile";
    proposal.parameters = {{"tile", fmt::format("{}x{}x{}", shape.rows, shape.columns, depth)},
                           {"warps", std::to_string(shape.warps)},
                           {"stages", std::to_string(shape.stages)}};
    const auto changed = with_dot_tile(text, proposal);
    if (changed && *changed != text) proposals.push_back(std::move(proposal));
  }
  return proposals;
}

Result<KernelText> with_dot_tile(KernelText text, const StepProposal& proposal) {
  const auto tile = dot_tile_of(text);
  if (!tile) return fail(ErrorCode::refused, "the extents of the product's tile cannot be told");
  int rows = 0;
  int columns = 0;
  int depth = 0;
  int warps = 0;
  int stages = 0;
  const auto value = [&](const char* name) {
    const auto found = proposal.parameters.find(name);
    return found == proposal.parameters.end() ? std::string() : found->second;
  };
  if (std::sscanf(value("tile").c_str(), "%dx%dx%d", &rows, &columns, &depth) != 3 ||
      std::sscanf(value("warps").c_str(), "%d", &warps) != 1 ||
      std::sscanf(value("stages").c_str(), "%d", &stages) != 1)
    return fail(ErrorCode::refused, "'tile', 'warps' or 'stages' is missing or no number");
  text.constants[tile->rows] = std::to_string(rows);
  text.constants[tile->columns] = std::to_string(columns);
  text.constants[tile->depth] = std::to_string(depth);
  text.warps = warps;
  text.stages = stages;
  auto read = parse_kernel_text(text.text());
  if (!read) return fail(ErrorCode::refused, read.error().message);
  return read;
}

}  // namespace regraph::triton
