#include "eval/model/critical_path.h"

#include "ptx/decode/code.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace regraph {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::InstructionClass;
using ptx::Operand;

// Longest conditional code that ptxas turns into predicated instructions instead of a branch,
// about.
constexpr std::size_t kPredicatedInstructions = 10;

// Instructions that the scheduler does not move others across: where a conditional branch remains
// in machine code, and where its two ways meet again. Short code without branches of its own is
// predicated instead.
std::vector<bool> scheduling_fences(const ptx::Program::Code& code) {
  const Function& function = *code.function;
  std::vector<bool> fences(function.instructions.size() + 1, false);
  std::vector<std::size_t> branches_before(function.instructions.size() + 1, 0);
  for (std::size_t index = 0; index < function.instructions.size(); ++index) {
    const bool branches = code.instructions[index].instruction_class == InstructionClass::branch;
    branches_before[index + 1] = branches_before[index] + (branches ? 1 : 0);
  }
  for (std::size_t index = 0; index < function.instructions.size(); ++index) {
    const Instruction& instruction = function.instructions[index];
    const bool conditional =
        code.instructions[index].instruction_class == InstructionClass::branch &&
        instruction.guard >= 0 && instruction.operand_count > 0;
    if (!conditional) continue;
    const Operand& target = function.operands[instruction.first_operand];
    if (target.kind != Operand::Kind::label) continue;
    const auto label = std::lower_bound(
        function.labels.begin(), function.labels.end(), target.text,
        [](const ptx::Label& candidate, std::string_view name) { return candidate.name < name; });
    if (label == function.labels.end() || label->name != target.text ||
        label->instruction <= index) {
      continue;  // a loop's back edge ends a pass anyway
    }
    const std::size_t length = label->instruction - index - 1;
    const bool nested = branches_before[label->instruction] != branches_before[index + 1];
    if (length <= kPredicatedInstructions && !nested) continue;
    fences[index] = true;
    fences[label->instruction] = true;
  }
  return fences;
}

class Scoreboard {
 public:
  Scoreboard(const ptx::Program::Code& code, const DeviceSpec& device,
             const LoadLatency& global_load)
      : code_(code),
        device_(device),
        global_load_(global_load),
        ready_(code.function->registers.size()),
        fences_(scheduling_fences(code)) {}

  // Starts a pass over a run of blocks: it issues after what came before.
  void begin_pass() {
    floor_ = clock_;
    pass_begin_ = clock_;
    pass_slots_ = 0.0;
  }

  // Runs instructions [first, last) once; returns by how many clocks the last issue moved on.
  // Within a pass only operands and barriers order instructions, as after ptxas' scheduling.
  double run(std::size_t first, std::size_t last) {
    const double before = clock_;
    for (std::size_t index = first; index < last; ++index) {
      if (fences_[index]) floor_ = std::max(floor_, clock_);
      pass_slots_ += issue(index);
    }
    clock_ = std::max(clock_, pass_begin_ + pass_slots_);
    return clock_ - before;
  }

 private:
  double latency(std::size_t index) const {
    const InstructionClass kind = code_.instructions[index].instruction_class;
    switch (kind) {
      case InstructionClass::load_global:
        return global_load_.of(static_cast<std::int32_t>(index));
      // Atomics are done in L2, whatever L1 holds.
      case InstructionClass::atomic_global:
        return device_.l2_latency;
      case InstructionClass::load_shared:
      case InstructionClass::atomic_shared:
        return device_.shared_latency;
      case InstructionClass::load_local:
      case InstructionClass::load_constant:
        return device_.l1_latency;
      case InstructionClass::special_function:
      case InstructionClass::conversion:
      case InstructionClass::shuffle:
        return device_.special_function_latency;
      case InstructionClass::matrix:
        return device_.tensor_latency;
      case InstructionClass::divide:
        return 10.0 * device_.arithmetic_latency;
      case InstructionClass::fp64:
        return 2.0 * device_.arithmetic_latency;
      case InstructionClass::move:
        return 0.0;
      default:
        return device_.arithmetic_latency;
    }
  }

  // Stores, reductions and asynchronous copies begin with the address they write to.
  bool has_destination(const Instruction& instruction, const ptx::InstructionInfo& info) const {
    if (instruction.operand_count == 0) return false;
    if (info.instruction_class == InstructionClass::branch ||
        info.instruction_class == InstructionClass::barrier) {
      return false;
    }
    return code_.function->operands[instruction.first_operand].kind != Operand::Kind::address;
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
      default:
        break;
    }
  }

  // Returns the issue slots taken.
  double issue(std::size_t index) {
    const Instruction& instruction = code_.function->instructions[index];
    const ptx::InstructionInfo& info = code_.instructions[index];
    const bool writes = has_destination(instruction, info);
    double start = floor_;
    auto wait = [&](std::uint32_t reg) {
      if (reg < ready_.size()) start = std::max(start, ready_[reg]);
    };
    if (instruction.guard >= 0) wait(static_cast<std::uint32_t>(instruction.guard));
    for (std::uint32_t i = writes ? 1 : 0; i < instruction.operand_count; ++i) {
      for_each_register(code_.function->operands[instruction.first_operand + i], wait);
    }
    // Compilers move no load that may read what an atomic wrote across it, and rarely know better:
    // a histogram in shared memory takes a DRAM latency a round
    // (bench/h200/candidates/histogram_2).
    const bool may_read_written = (info.instruction_class == InstructionClass::load_global ||
                                   info.instruction_class == InstructionClass::load_shared) &&
                                  !info.reads_only_cache;
    if (may_read_written) start = std::max(start, load_floor_);
    // Moves are renamings that vanish in machine code.
    const double slots = info.instruction_class == InstructionClass::move ? 0.0 : 1.0;
    if (info.instruction_class == InstructionClass::barrier) {
      // Everything before it has issued, and nothing after it starts earlier.
      start = std::max(start, clock_) + device_.barrier_latency;
      floor_ = start;
    }
    if (info.instruction_class == InstructionClass::atomic_global ||
        info.instruction_class == InstructionClass::atomic_shared) {
      load_floor_ = std::max(load_floor_, start + slots);
    }
    clock_ = std::max(clock_, start + slots);
    if (!writes) return slots;
    const double done = start + latency(index);
    for_each_register(code_.function->operands[instruction.first_operand], [&](std::uint32_t reg) {
      if (reg < ready_.size()) ready_[reg] = done;
    });
    return slots;
  }

  const ptx::Program::Code& code_;
  const DeviceSpec& device_;
  const LoadLatency& global_load_;
  std::vector<double> ready_;
  std::vector<bool> fences_;
  double clock_ = 0.0;       // last issue so far
  double floor_ = 0.0;       // no later instruction of this pass issues before
  double load_floor_ = 0.0;  // no load issues before: the last atomic
  double pass_begin_ = 0.0;
  double pass_slots_ = 0.0;
};

// How often an average warp ran a basic block. Guards may have switched single instructions off.
double executions_of(const ptx::BasicBlock& block, const ptx::Profile& profile) {
  std::uint64_t most = 0;
  for (std::uint32_t index = block.first; index < block.last; ++index) {
    most = std::max(most, profile.instructions[index].warp_executions);
  }
  return static_cast<double>(most) / static_cast<double>(profile.warps);
}

}  // namespace

double critical_path_clocks(const ptx::Program& program, const ptx::Profile& profile,
                            const DeviceSpec& device, const LoadLatency& global_load) {
  const ptx::Program::Code& code = program.code();
  const auto& blocks = code.control_flow.blocks;
  if (profile.warps == 0 || profile.instructions.size() != code.instructions.size()) return 0.0;
  std::vector<double> executions;
  executions.reserve(blocks.size());
  for (const ptx::BasicBlock& block : blocks)
    executions.push_back(executions_of(block, profile));

  // One scoreboard for the whole kernel: what is loaded before a loop may be waited for in it.
  Scoreboard scoreboard(code, device, global_load);
  double total = 0.0;
  // A run: neighbouring blocks at the same loop depth. Blocks nobody ran are not on the path.
  auto pass = [&](std::size_t first, std::size_t last, auto weight) {
    scoreboard.begin_pass();
    for (std::size_t index = first; index < last; ++index) {
      if (executions[index] > 0.0) {
        total +=
            weight(executions[index]) * scoreboard.run(blocks[index].first, blocks[index].last);
      }
    }
  };
  for (std::size_t first = 0; first < blocks.size();) {
    std::size_t last = first;
    while (last < blocks.size() && blocks[last].loop_depth == blocks[first].loop_depth)
      ++last;
    if (blocks[first].loop_depth == 0) {
      pass(first, last, [](double count) { return count; });
    } else {
      pass(first, last, [](double count) { return std::min(count, 1.0); });
      // Later passes overlap with what the pass before left pending.
      pass(first, last, [](double count) { return std::max(count - 1.0, 0.0); });
    }
    first = last;
  }
  return total;
}

}  // namespace regraph
