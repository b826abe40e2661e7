#include "ptx/decode/atomic_traits.h"

#include "ptx/decode/def_use.h"
#include "ptx/decode/opcode.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

bool adds_constant_one(const Function& function, const Instruction& instruction,
                       const Opcode& opcode, DataType type) {
  if (!opcode.has("add") || (type != DataType::u32 && type != DataType::s32)) return false;
  if (instruction.operand_count == 0) return false;
  const Operand& last =
      function.operands[instruction.first_operand + instruction.operand_count - 1];
  return last.kind == Operand::Kind::integer && last.bits == 1;
}

}  // namespace

std::vector<AtomicTraits> atomic_traits(const Function& function) {
  std::vector<AtomicTraits> traits(function.instructions.size());
  std::vector<std::size_t> atomics;
  std::vector<std::vector<std::uint32_t>> results(function.instructions.size());
  std::vector<bool> read(function.registers.size(), false);
  for (std::size_t index = 0; index < function.instructions.size(); ++index) {
    const Instruction& instruction = function.instructions[index];
    const InstructionEffect effect = effect_of(function, instruction);
    for (const std::uint32_t reg : effect.uses)
      read[reg] = true;
    if (effect.role != InstructionRole::atomic) continue;
    const Opcode opcode(instruction.mnemonic);
    const DataType type = opcode.last_type().value_or(DataType::b32);
    const bool is_half = type == DataType::f16 || type == DataType::bf16;
    traits[index].halves = is_half || type == DataType::f16x2 || type == DataType::bf16x2;
    traits[index].swaps_words = is_half && opcode.vector_length() == 1;
    traits[index].floating = opcode.has("add") && is_floating(type);
    traits[index].increments = adds_constant_one(function, instruction, opcode, type);
    results[index] = effect.defines;
    atomics.push_back(index);
  }
  for (const std::size_t index : atomics) {
    traits[index].returns = std::any_of(results[index].begin(), results[index].end(),
                                        [&](std::uint32_t reg) { return read[reg]; });
  }
  return traits;
}

}  // namespace regraph::ptx
