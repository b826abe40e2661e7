#include "eval/verify/compared_values.h"

#include "ptx/decode/code.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace regraph::verify {

namespace {

constexpr std::size_t kMostValues = 64;
constexpr std::size_t kMostBlocks = 48;

bool compares_integers(std::string_view mnemonic) {
  if (!mnemonic.starts_with("setp.") && !mnemonic.starts_with("set.")) return false;
  const std::string_view type = mnemonic.substr(mnemonic.rfind('.') + 1);
  return type.starts_with('s') || type.starts_with('u') || type.starts_with('b');
}

}  // namespace

std::vector<std::int64_t> compared_values(const LoadedPlan& plan) {
  std::set<std::int64_t> values;
  for (const LoadedLaunch& launch : plan) {
    const ptx::Function& function = *launch.program.code().function;
    for (const ptx::Instruction& one : function.instructions) {
      if (!compares_integers(one.mnemonic)) continue;
      for (std::uint32_t i = 0; i < one.operand_count; ++i) {
        const ptx::Operand& operand = function.operands[one.first_operand + i];
        if (operand.kind != ptx::Operand::Kind::integer) continue;
        const auto value = static_cast<std::int64_t>(operand.bits);
        if (value >= 2) values.insert(value);
      }
    }
  }
  std::vector<std::int64_t> list(values.begin(), values.end());
  if (list.size() > kMostValues) list.resize(kMostValues);
  return list;
}

std::vector<std::uint64_t> blocks_near(const std::vector<std::int64_t>& values, const Dim3& grid,
                                       const Dim3& block) {
  std::vector<std::uint64_t> blocks;
  const auto add = [&](std::uint64_t x, std::uint64_t y, std::uint64_t z) {
    if (x >= grid.x || y >= grid.y || z >= grid.z || blocks.size() >= kMostBlocks) return;
    const std::uint64_t linear = (z * grid.y + y) * grid.x + x;
    if (std::find(blocks.begin(), blocks.end(), linear) == blocks.end()) blocks.push_back(linear);
  };
  // Large ones first: small ones are reached by the tests.
  for (auto value = values.rbegin(); value != values.rend(); ++value) {
    const auto at = static_cast<std::uint64_t>(*value);
    for (const std::uint64_t near : {at, at - 1, at + 1}) {
      add(near, 0, 0);
      add(0, near, 0);
      add(0, 0, near);
    }
    add(at / block.x, 0, 0);
    add(0, at / block.y, 0);
    if (at < grid.count()) add(at % grid.x, at / grid.x % grid.y, at / grid.x / grid.y);
  }
  return blocks;
}

}  // namespace regraph::verify
