// Where parameters, variables and frames lie.
#include "ptx/decode/decoder.h"

#include <algorithm>

namespace regraph::ptx {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t step) {
  return (value + step - 1) / step * step;
}

}  // namespace

void Decoder::place_parameters() {
  std::uint64_t offset = 0;
  for (std::uint32_t index : code_.function->parameters) {
    const Variable& variable = code_.module->variables[index];
    offset = round_up(offset, variable.alignment);
    placed_[index] = {StateSpace::parameter, offset};
    code_.parameters.push_back({offset, variable.bytes, variable.bytes == 8});
    offset += variable.bytes;
  }
  code_.parameter_bytes = offset;
}

// Shared variables get the addresses the hardware would give them plus a growing gap.
bool Decoder::place_variables() {
  std::uint64_t shared = 0;
  std::uint64_t gaps = 0;
  std::uint64_t global = kModuleGlobalBase;
  std::uint64_t constant = kConstantBase;
  const std::vector<Variable>& variables = code_.module->variables;
  // Of shared variables only what this kernel names takes space. Global and constant ones all have
  // their place, the same for every entry of a module: launches may share their memory.
  std::vector<bool> used(variables.size(), false);
  const auto mark = [&](const std::vector<Operand>& operands) {
    for (const Operand& operand : operands) {
      if (operand.kind == Operand::Kind::variable) used[operand.index] = true;
    }
  };
  mark(code_.function->operands);
  mark(code_.function->elements);
  for (std::uint32_t i = 0; i < variables.size(); ++i) {
    const Variable& variable = variables[i];
    const bool of_module =
        variable.space == StateSpace::global || variable.space == StateSpace::constant;
    if ((!used[i] && !of_module) || placed_.contains(i)) continue;
    switch (variable.space) {
      case StateSpace::shared: {
        if (variable.is_extern) {
          code_.dynamic_shared = static_cast<std::int32_t>(i);
          break;
        }
        shared = round_up(shared, variable.alignment);
        const std::uint64_t address = kSharedBase + shared + gaps;
        placed_[i] = {StateSpace::shared, address};
        code_.shared.push_back({i, address, variable.bytes});
        shared += variable.bytes;
        gaps += kSharedGap;
        break;
      }
      case StateSpace::global: {
        global = round_up(global + kModuleRedZone, 256);
        placed_[i] = {StateSpace::global, global};
        code_.globals.push_back({i, global, variable.bytes});
        global += variable.bytes;
        break;
      }
      case StateSpace::constant: {
        constant = round_up(constant + kSharedGap, 256);
        placed_[i] = {StateSpace::constant, constant};
        code_.constant_variables.push_back({i, constant, variable.bytes});
        constant += variable.bytes;
        break;
      }
      default:
        break;
    }
  }
  code_.static_shared_bytes = shared;
  // Dynamic shared memory follows the static part, aligned as the strictest extern declaration.
  std::uint64_t alignment = 16;
  for (const Variable& variable : variables) {
    if (variable.space == StateSpace::shared && variable.is_extern) {
      alignment = std::max(alignment, variable.alignment);
    }
  }
  code_.dynamic_shared_address = kSharedBase + round_up(shared, alignment) + gaps;
  for (std::uint32_t i = 0; i < variables.size(); ++i) {
    if (variables[i].space == StateSpace::shared && variables[i].is_extern) {
      placed_[i] = {StateSpace::shared, code_.dynamic_shared_address};
    }
  }
  return true;
}

// Gives every function of the code its frame in local memory, and local memory its size.
bool Decoder::place_frames() {
  const std::vector<Variable>& variables = code_.module->variables;
  const Function& joined = *code_.function;
  const auto place = [&](std::uint32_t index, Segment& segment) {
    if (placed_.contains(index)) return;
    const std::uint64_t offset = round_up(segment.frame_bytes, variables[index].alignment);
    placed_[index] = {StateSpace::local, offset};
    segment.frame_bytes = offset + variables[index].bytes;
  };
  bool any_recursion = false;
  for (std::uint32_t s = 0; s < code_.segments.size(); ++s) {
    Segment& segment = code_.segments[s];
    const Function& own = code_.module->functions[segment.function];
    if (s > 0) {
      for (std::uint32_t index : own.results)
        place(index, segment);
      for (std::uint32_t index : own.parameters)
        place(index, segment);
    }
    const auto place_operand = [&](const Operand& operand) {
      if (operand.kind != Operand::Kind::variable) return;
      const StateSpace space = variables[operand.index].space;
      if (space == StateSpace::local || space == StateSpace::parameter) {
        place(operand.index, segment);
      }
    };
    for (std::uint32_t i = segment.first_instruction; i < segment.last_instruction; ++i) {
      const Instruction& instruction = joined.instructions[i];
      for (std::uint32_t o = 0; o < instruction.operand_count; ++o) {
        const Operand& operand = joined.operands[instruction.first_operand + o];
        place_operand(operand);
        const bool nested =
            operand.kind == Operand::Kind::list || operand.kind == Operand::Kind::address;
        for (std::uint32_t e = 0; nested && e < operand.count; ++e)
          place_operand(joined.elements[operand.index + e]);
      }
    }
    segment.frame_bytes = round_up(segment.frame_bytes, 16);
    any_recursion = any_recursion || segment.recursive;
  }
  // The deepest chain of calls; where functions call themselves, room for some depth.
  constexpr std::uint64_t kRecursionStack = 16ULL << 10;
  std::uint64_t local = 0;
  if (any_recursion) {
    for (const Segment& segment : code_.segments)
      local += segment.frame_bytes;
    local += kRecursionStack;
  } else {
    std::vector<std::uint64_t> deepest(code_.segments.size(), 0);
    // Without recursion a chain has no more links than there are segments.
    for (std::size_t round = 0; round < code_.segments.size(); ++round) {
      bool changed = false;
      for (std::size_t s = 0; s < code_.segments.size(); ++s) {
        std::uint64_t below = 0;
        for (std::uint32_t callee : code_.segments[s].callees)
          below = std::max(below, deepest[callee]);
        changed = changed || deepest[s] != below + code_.segments[s].frame_bytes;
        deepest[s] = below + code_.segments[s].frame_bytes;
      }
      if (!changed) break;
    }
    local = deepest[0];
  }
  // A thread has at most 512 KiB of local memory on every device so far.
  constexpr std::uint64_t kLargestLocal = 512ULL << 10;
  if (local > kLargestLocal) return unsupported("more than 512 KiB of local memory a thread");
  code_.local_bytes = round_up(local, 16);
  return true;
}

}  // namespace regraph::ptx
