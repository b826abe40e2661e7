#include "eval/model/critical_path.h"

#include <algorithm>
#include <vector>

#include "ptx/code.h"

namespace regraph {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::InstructionClass;
using ptx::Operand;

class Scoreboard {
 public:
  Scoreboard(const ptx::Program::Code& code, const DeviceSpec& device, LoadLatency global_load)
      : code_(code), device_(device), global_load_(global_load), ready_(code.function->registers.size()) {}

  // Issues instructions [first, last) once; returns the clock after the last issue.
  double run(std::size_t first, std::size_t last) {
    for (std::size_t index = first; index < last; ++index) issue(index);
    return clock_;
  }

 private:
  double latency(InstructionClass kind) const {
    switch (kind) {
      case InstructionClass::load_global:
      case InstructionClass::atomic_global: return global_load_.clocks;
      case InstructionClass::load_shared:
      case InstructionClass::atomic_shared: return device_.shared_latency;
      case InstructionClass::load_local:
      case InstructionClass::load_constant: return device_.l1_latency;
      case InstructionClass::special_function:
      case InstructionClass::conversion:
      case InstructionClass::shuffle: return device_.special_function_latency;
      case InstructionClass::divide: return 10.0 * device_.arithmetic_latency;
      case InstructionClass::fp64: return 2.0 * device_.arithmetic_latency;
      case InstructionClass::move: return 0.0;
      default: return device_.arithmetic_latency;
    }
  }

  static bool has_destination(const ptx::InstructionInfo& info) {
    switch (info.instruction_class) {
      case InstructionClass::store_global:
      case InstructionClass::store_shared:
      case InstructionClass::store_local:
      case InstructionClass::branch:
      case InstructionClass::barrier: return false;
      default: return !info.mnemonic.starts_with("red");
    }
  }

  template <typename Visit>
  void for_each_register(const Operand& operand, const Visit& visit) const {
    switch (operand.kind) {
      case Operand::Kind::reg:
        visit(operand.index);
        if (operand.second >= 0) visit(static_cast<std::uint32_t>(operand.second));
        break;
      case Operand::Kind::list:
        for (std::uint32_t i = 0; i < operand.count; ++i) {
          for_each_register(code_.function->elements[operand.index + i], visit);
        }
        break;
      case Operand::Kind::address:
        for_each_register(code_.function->elements[operand.index], visit);
        break;
      default: break;
    }
  }

  void issue(std::size_t index) {
    const Instruction& instruction = code_.function->instructions[index];
    const ptx::InstructionInfo& info = code_.instructions[index];
    const bool writes = has_destination(info) && instruction.operand_count > 0;
    double start = clock_;
    auto wait = [&](std::uint32_t reg) {
      if (reg < ready_.size()) start = std::max(start, ready_[reg]);
    };
    if (instruction.guard >= 0) wait(static_cast<std::uint32_t>(instruction.guard));
    for (std::uint32_t i = writes ? 1 : 0; i < instruction.operand_count; ++i) {
      for_each_register(code_.function->operands[instruction.first_operand + i], wait);
    }
    // Moves are renamings that vanish in machine code.
    const bool is_free = info.instruction_class == InstructionClass::move;
    clock_ = is_free ? clock_ : start + 1.0;
    if (info.instruction_class == InstructionClass::barrier) clock_ += device_.barrier_latency;
    if (!writes) return;
    const double done = start + latency(info.instruction_class);
    for_each_register(code_.function->operands[instruction.first_operand], [&](std::uint32_t reg) {
      if (reg < ready_.size()) ready_[reg] = done;
    });
  }

  const ptx::Program::Code& code_;
  const DeviceSpec& device_;
  LoadLatency global_load_;
  std::vector<double> ready_;
  double clock_ = 0.0;
};

}  // namespace

double critical_path_clocks(const ptx::Program& program, const ptx::Profile& profile,
                            const DeviceSpec& device, LoadLatency global_load) {
  const ptx::Program::Code& code = program.code();
  const auto& blocks = code.control_flow.blocks;
  if (profile.warps == 0 || profile.instructions.size() != code.instructions.size()) return 0.0;
  double total = 0.0;
  std::size_t first_block = 0;
  while (first_block < blocks.size()) {
    // A run: neighbouring blocks at the same loop depth.
    std::size_t last_block = first_block;
    double executions = 0.0;
    while (last_block < blocks.size() && blocks[last_block].loop_depth == blocks[first_block].loop_depth) {
      const ptx::BasicBlock& block = blocks[last_block];
      if (block.first < block.last) {
        executions = std::max(executions,
                              static_cast<double>(profile.instructions[block.first].warp_executions));
      }
      ++last_block;
    }
    const std::size_t first = blocks[first_block].first;
    const std::size_t last = blocks[last_block - 1].last;
    Scoreboard scoreboard(code, device, global_load);
    const double once = scoreboard.run(first, last);
    const double twice = scoreboard.run(first, last);
    const double per_warp = executions / static_cast<double>(profile.warps);
    // Straight code runs once; a loop's later passes overlap with what the pass before left pending.
    const double pass = blocks[first_block].loop_depth > 0 ? twice - once : once;
    total += per_warp * pass;
    first_block = last_block;
  }
  return total;
}

}  // namespace regraph
