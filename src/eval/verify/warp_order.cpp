#include "eval/verify/warp_order.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

namespace regraph::verify {

namespace {

constexpr std::uint64_t kLaneMask = 31;
constexpr std::uint64_t kWarpgroupMask = 127;

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::optional<std::string> with_reversed_warps(const std::string& ptx, const Dim3& block) {
  const std::uint64_t kept =
      ptx.find("wgmma.mma_async") != std::string::npos ? kWarpgroupMask : kLaneMask;
  if (!std::has_single_bit(block.x) || !std::has_single_bit(block.y) ||
      !std::has_single_bit(block.z) || block.count() <= kept + 1) {
    return std::nullopt;
  }
  // The bits of x, y and z lie side by side in the linear number.
  const std::uint64_t flipped = (block.count() - 1) & ~kept;
  const std::array<std::uint64_t, 3> masks = {flipped & (block.x - 1),
                                              flipped / block.x & (block.y - 1),
                                              flipped / block.x / block.y & (block.z - 1)};

  std::string out;
  std::string_view rest = ptx;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    out.append(line).push_back('\n');
    const std::size_t special = line.find("%tid");
    if (special == std::string_view::npos) continue;
    // "mov.u32 %r3, %tid.x;" and nothing else.
    constexpr std::string_view kMove = "mov.u32";
    std::string_view statement = trim(line);
    if (statement.substr(0, kMove.size()) != kMove) return std::nullopt;
    statement = trim(statement.substr(kMove.size()));
    const std::size_t comma = statement.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    const std::string_view target = trim(statement.substr(0, comma));
    const std::string_view source = trim(statement.substr(comma + 1));
    if (source.size() != 7 || source.substr(0, 5) != "%tid." || source[6] != ';' ||
        source[5] < 'x' || source[5] > 'z') {
      return std::nullopt;
    }
    const std::uint64_t mask = masks[static_cast<std::size_t>(source[5] - 'x')];
    if (mask != 0) out += fmt::format("\txor.b32 \t{}, {}, {};\n", target, target, mask);
  }
  return out;
}

}  // namespace regraph::verify
