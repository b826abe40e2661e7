#include "eval/model/merge_groups.h"

#include "ptx/decode/code.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

namespace regraph {
namespace {

using ptx::InstructionClass;
using ptx::Operand;

constexpr std::int64_t kWidestAccessBytes = 16;

struct Access {
  std::int64_t offset = 0;
  std::size_t instruction = 0;
};

// Accesses that may join: same base register (and the same definition of it), kind and width.
using GroupKey = std::tuple<std::uint32_t, int, InstructionClass, int>;
using Groups = std::map<GroupKey, std::vector<Access>>;

void share_costs(Groups& groups, const ptx::Profile& profile, std::vector<double>& shares) {
  for (auto& [key, accesses] : groups) {
    const std::int64_t bytes = std::get<3>(key);
    std::sort(accesses.begin(), accesses.end(),
              [](const Access& a, const Access& b) { return a.offset < b.offset; });
    std::size_t first = 0;
    while (first < accesses.size()) {
      const std::int64_t width = std::min<std::int64_t>(
          kWidestAccessBytes, profile.instructions[accesses[first].instruction].address_alignment);
      std::size_t last = first + 1;
      while (last < accesses.size() && accesses[last].offset == accesses[last - 1].offset + bytes &&
             accesses[last].offset + bytes - accesses[first].offset <= width) {
        ++last;
      }
      // Only 1, 2 or 4 elements make a machine access.
      const auto count = static_cast<std::size_t>(last - first >= 4   ? 4
                                                  : last - first >= 2 ? 2
                                                                      : 1);
      for (std::size_t i = first; i < first + count; ++i) {
        shares[accesses[i].instruction] = 1.0 / static_cast<double>(count);
      }
      first += count;
    }
  }
  groups.clear();
}

}  // namespace

std::vector<double> merged_shares(const ptx::Program& program, const ptx::Profile& profile) {
  const ptx::Program::Code& code = program.code();
  const ptx::Function& function = *code.function;
  std::vector<double> shares(profile.instructions.size(), 1.0);
  if (profile.instructions.size() != function.instructions.size()) return shares;
  std::vector<int> definitions(function.registers.size(), 0);
  Groups groups;
  int block = -1;
  for (std::size_t index = 0; index < function.instructions.size(); ++index) {
    const ptx::InstructionProfile& entry = profile.instructions[index];
    const ptx::Instruction& instruction = function.instructions[index];
    if (entry.basic_block != block || entry.instruction_class == InstructionClass::barrier) {
      share_costs(groups, profile, shares);
      block = entry.basic_block;
    }
    const bool loads = entry.instruction_class == InstructionClass::load_shared;
    const bool stores = entry.instruction_class == InstructionClass::store_shared;
    if (loads || stores) {
      const Operand& operand = function.operands[instruction.first_operand + (loads ? 1 : 0)];
      if (operand.kind == Operand::Kind::address) {
        const Operand& base = function.elements[operand.index];
        if (base.kind == Operand::Kind::reg && entry.access_bytes < kWidestAccessBytes) {
          groups[{base.index, definitions[base.index], entry.instruction_class, entry.access_bytes}]
              .push_back({operand.offset, index});
        }
      }
    }
    // A new value in a register makes it another base.
    if (instruction.operand_count > 0 && !stores) {
      const Operand& target = function.operands[instruction.first_operand];
      if (target.kind == Operand::Kind::reg) ++definitions[target.index];
      if (target.kind == Operand::Kind::list) {
        for (std::uint32_t i = 0; i < target.count; ++i) {
          const Operand& element = function.elements[target.index + i];
          if (element.kind == Operand::Kind::reg) ++definitions[element.index];
        }
      }
    }
  }
  share_costs(groups, profile, shares);
  return shares;
}

}  // namespace regraph
