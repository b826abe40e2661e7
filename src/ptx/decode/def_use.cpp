#include "ptx/decode/def_use.h"

#include "ptx/decode/opcode.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

// Other .param variables are arguments and results of calls, in local memory. Addresses in
// registers are a kernel's, unless the instruction is a called function's.
bool names_kernel_parameter(const Function& function, const Instruction& instruction) {
  for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = function.operands[instruction.first_operand + i];
    if (operand.kind != Operand::Kind::address) continue;
    const Operand& base = function.elements[operand.index];
    if (base.kind != Operand::Kind::variable) return instruction.segment == 0;
    return std::find(function.parameters.begin(), function.parameters.end(), base.index) !=
           function.parameters.end();
  }
  return false;
}

}  // namespace

InstructionEffect effect_of(const Function& function, const Instruction& instruction) {
  InstructionEffect effect;
  const Opcode opcode(instruction.mnemonic);
  const std::string_view name = opcode.name();
  const bool returns =
      !(name == "st" || name == "red" || name == "bra" || name == "brx" || name == "ret" ||
        name == "exit" || name == "membar" || name == "fence" || name == "call" ||
        name == "prefetch" || name == "cp" || name == "stmatrix" || name == "tensormap" ||
        (name == "wmma" && opcode.modifier(0) == "store") ||
        ((name == "bar" || name == "barrier") && !opcode.has("red")));
  if (name == "ld" || name == "ldu" || name == "ldmatrix") effect.role = InstructionRole::load;
  if (name == "wmma" && opcode.modifier(0) == "load") effect.role = InstructionRole::load;
  if (name == "wmma" && opcode.modifier(0) == "store") effect.role = InstructionRole::store;
  if (name == "st" || name == "stmatrix") effect.role = InstructionRole::store;
  // A copy to shared memory: a store there, a load from global memory. Bulk copies go both ways.
  const bool copies = name == "cp" && opcode.has("global") && !opcode.has("prefetch");
  if (copies) {
    effect.role = InstructionRole::store;
    effect.global = true;
    effect.copies = opcode.modifier(2) != "global";
  }
  // An object in shared memory, whose phases others wait for.
  if (name == "mbarrier" || (name == "cp" && opcode.modifier(1) == "mbarrier")) {
    const bool tests = opcode.has("test_wait") || opcode.has("try_wait");
    effect.role = tests                         ? InstructionRole::load
                  : opcode.has("pending_count") ? InstructionRole::plain
                                                : InstructionRole::atomic;
    effect.block_local = effect.role != InstructionRole::plain;
  }
  // Which elements copies of tensors access lies in memory.
  if (name == "tensormap") effect.role = InstructionRole::control;
  // What copies wait for belongs to them, wherever it stands.
  if (name == "cp" && !opcode.has("global") && opcode.modifier(1) != "mbarrier")
    effect.role = InstructionRole::control;
  if (name == "atom" || name == "red") effect.role = InstructionRole::atomic;
  if (name == "bra" || name == "brx" || name == "ret" || name == "exit" || name == "bar" ||
      name == "barrier" || name == "call") {
    effect.role = InstructionRole::control;
  }
  if (copies) {
    effect.block_local = effect.copies;
  } else if (effect.block_local) {
    // An mbarrier.
  } else if (effect.role == InstructionRole::load || effect.role == InstructionRole::store ||
             effect.role == InstructionRole::atomic) {
    const bool of_call = opcode.has("param") && !names_kernel_parameter(function, instruction);
    const bool block_local =
        opcode.has("shared") || opcode.has("shared::cta") || opcode.has("local") || of_call;
    const bool fixed = opcode.has("const") || opcode.has("param") || opcode.has("param::entry");
    effect.global = !block_local && !fixed;
    const bool generic = effect.global && !opcode.has("global");
    effect.block_local = block_local || generic;
  }
  // The sums are added to.
  const bool accumulates = name == "wgmma" && opcode.has("mma_async");
  if (instruction.guard >= 0) {
    effect.uses.push_back(static_cast<std::uint32_t>(instruction.guard));
  }
  for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = function.operands[instruction.first_operand + i];
    // What an address in front says is used: cp.async [to], [from], 16.
    const bool target = i == 0 && returns && operand.kind != Operand::Kind::address;
    if (target && operand.second >= 0) {
      effect.defines.push_back(static_cast<std::uint32_t>(operand.second));
    }
    const bool nested =
        operand.kind == Operand::Kind::list || operand.kind == Operand::Kind::address;
    for (std::uint32_t j = 0; j < (nested ? operand.count : 1); ++j) {
      const Operand& leaf = nested ? function.elements[operand.index + j] : operand;
      if (leaf.kind != Operand::Kind::reg) continue;
      (target ? effect.defines : effect.uses).push_back(leaf.index);
      if (target && accumulates) effect.uses.push_back(leaf.index);
      // Of a copy the number of bytes says whether there is an access at all, of a matrix what lies
      // between its lines where they are.
      const bool extent = i >= 2 && (copies || (name == "wmma" && effect.global));
      if (operand.kind == Operand::Kind::address || extent) effect.addresses.push_back(leaf.index);
    }
  }
  return effect;
}

DefinitionTable::DefinitionTable(const Function& function) {
  effects_.reserve(function.instructions.size());
  for (std::size_t i = 0; i < function.instructions.size(); ++i) {
    effects_.push_back(effect_of(function, function.instructions[i]));
    for (const std::uint32_t reg : effects_.back().defines)
      definitions_[reg].push_back(i);
  }
}

const std::vector<std::size_t>& DefinitionTable::definitions(std::uint32_t reg) const {
  static const std::vector<std::size_t> kNone;
  const auto found = definitions_.find(reg);
  return found == definitions_.end() ? kNone : found->second;
}

}  // namespace regraph::ptx
