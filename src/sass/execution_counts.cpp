#include "sass/execution_counts.h"

#include "ptx/decode/code.h"
#include "sass/loop_match.h"

#include <algorithm>
#include <map>

namespace regraph::sass {
namespace {

using ptx::InstructionClass;
using Kind = OperationClass;

// Hostile PTX may nest more loops than there is time to match.
constexpr std::size_t kMostPtxLoops = 1024;

bool is_memory(Kind kind) {
  switch (kind) {
    case Kind::load_global:
    case Kind::store_global:
    case Kind::atomic_global:
    case Kind::load_shared:
    case Kind::store_shared:
    case Kind::atomic_shared:
      return true;
    default:
      return false;
  }
}

class Counter {
 public:
  Counter(const MachineCode& code, const LoopMatch& match, ExecutionCounts& counts)
      : code_(code), match_(match), counts_(counts) {}

  void run() {
    known_.assign(code_.flow.blocks.size(), false);
    for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b)
      count_block(b);
    propagate();
    count_internal_functions();
    for (std::uint32_t j = 0; j < code_.instructions.size(); ++j) {
      counts_.executions[j] = counts_.block_executions[code_.flow.block_of[j]];
      counts_.active[j] = active(j, counts_.executions[j]);
    }
  }

 private:
  void count_block(std::uint32_t b) {
    if (match_.cold(b)) {
      known_[b] = true;
      return;
    }
    double most = -1.0;
    const ptx::BasicBlock& range = code_.flow.blocks[b];
    for (std::uint32_t j = range.first; j < range.last; ++j) {
      const std::int32_t i = counts_.ptx_instruction[j];
      if (i == kNone) continue;
      most = std::max(most, match_.weight(b, i) * match_.block_executions(match_.ptx_block(i)));
    }
    if (most < 0.0) return;
    counts_.block_executions[b] = most * match_.rounds(b);
    known_[b] = true;
  }

  // Blocks that no line speaks of: what flows in and not elsewhere.
  void propagate() {
    const auto& blocks = code_.flow.blocks;
    std::vector<std::vector<std::uint32_t>> predecessors(blocks.size());
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      for (const std::uint32_t next : blocks[b].successors)
        predecessors[next].push_back(b);
    }
    std::vector<std::uint32_t> work;
    for (std::uint32_t b = 0; b < blocks.size(); ++b) {
      if (!known_[b]) work.push_back(b);
    }
    while (!work.empty()) {
      const std::uint32_t b = work.back();
      work.pop_back();
      const auto& from = predecessors[b];
      const bool ready = std::all_of(from.begin(), from.end(),
                                     [&](std::uint32_t one) { return bool{known_[one]}; });
      if (known_[b] || from.empty() || !ready) continue;
      for (const std::uint32_t one : from) {
        double out = counts_.block_executions[one];
        for (const std::uint32_t other : blocks[one].successors) {
          if (other != b && known_[other] && predecessors[other].size() == 1)
            out -= counts_.block_executions[other];
        }
        counts_.block_executions[b] += std::max(0.0, out);
      }
      known_[b] = true;
      for (const std::uint32_t next : blocks[b].successors) {
        if (!known_[next]) work.push_back(next);
      }
    }
  }

  // ptxas' own subroutines run as often as they are called, each of their instructions once.
  void count_internal_functions() {
    std::map<std::uint32_t, double> calls;  // by the function's first instruction
    for (std::uint32_t b = 0; b < code_.flow.blocks.size(); ++b) {
      const CodeInstruction& last = code_.instructions[code_.flow.blocks[b].last - 1];
      if (last.what.operation == kCallRelative && last.target != kNoInstruction)
        calls[code_.function_of(last.target).first] += counts_.block_executions[b];
    }
    for (const CodeFunction& function : code_.functions) {
      if (!function.internal) continue;
      const auto found = calls.find(function.first);
      const double times = found == calls.end() ? 0.0 : found->second;
      for (std::uint32_t j = function.first; j < function.last;
           j = code_.flow.blocks[code_.flow.block_of[j]].last) {
        const std::uint32_t b = code_.flow.block_of[j];
        counts_.block_executions[b] = match_.cold(b) ? 0.0 : times;
      }
    }
  }

  // A guarded instruction may stand for a PTX instruction that ran less often than its block.
  double active(std::uint32_t machine, double times) const {
    const std::int32_t i = counts_.ptx_instruction[machine];
    if (!code_.instructions[machine].what.guarded() || i == kNone || times == 0.0) return times;
    const std::uint32_t b = code_.flow.block_of[machine];
    const double weight = match_.weight(b, i);
    if (weight < 0.0) return times;
    return std::min(times, match_.executions(i) * weight * match_.rounds(b));
  }

  const MachineCode& code_;
  const LoopMatch& match_;
  ExecutionCounts& counts_;
  std::vector<bool> known_;  // of machine blocks
};

// How far lines and operations were understood.
void judge(const MachineCode& code, const LoopMatch& match, const ptx::Profile& profile,
           ExecutionCounts& counts) {
  double memory = 0.0;
  double matched = 0.0;
  double unknown = 0.0;
  double all = 0.0;
  for (std::uint32_t j = 0; j < code.instructions.size(); ++j) {
    const double times = counts.executions[j];
    const Kind kind = code.instructions[j].what.operation_class;
    all += times;
    if (kind == Kind::unknown) unknown += times;
    if (!is_memory(kind)) continue;
    memory += times;
    const std::int32_t i = counts.ptx_instruction[j];
    // Atomics become loads and compare-and-swaps, too.
    const bool same =
        i != kNone &&
        (match.anchors(j, i) ||
         is_atomic(profile.instructions[static_cast<std::size_t>(i)].instruction_class));
    if (same) matched += times;
  }
  const bool accesses = std::any_of(
      profile.instructions.begin(), profile.instructions.end(),
      [](const ptx::InstructionProfile& one) {
        return one.warp_executions > 0 && (one.instruction_class == InstructionClass::load_global ||
                                           one.instruction_class == InstructionClass::store_global);
      });
  if (memory > 0.0) {
    counts.matched_memory = matched / memory;
  } else if (accesses) {
    counts.matched_memory = 0.0;  // lost, all of them
  }
  if (all > 0.0) counts.unknown = unknown / all;
  for (const auto& [kind, classes] :
       {std::pair{Kind::fp32, std::pair{InstructionClass::fp32_fma, InstructionClass::fp32_other}},
        std::pair{Kind::special_function, std::pair{InstructionClass::special_function,
                                                    InstructionClass::special_function}}}) {
    double in_ptx = 0.0;
    for (const ptx::InstructionProfile& one : profile.instructions) {
      const bool counts_here =
          one.instruction_class == classes.first || one.instruction_class == classes.second;
      if (counts_here) in_ptx += static_cast<double>(one.warp_executions);
    }
    in_ptx /= static_cast<double>(profile.warps);
    if (in_ptx < 1.0) continue;
    double here = 0.0;
    for (std::uint32_t j = 0; j < code.instructions.size(); ++j) {
      if (code.instructions[j].what.operation_class == kind) here += counts.executions[j];
    }
    counts.carried_out = std::min(counts.carried_out, here / in_ptx);
  }
}

// Instructions under a guard that never holds, as ptxas puts loads in front of fences, do nothing.
void leave_out_never(const MachineCode& code, ExecutionCounts& counts) {
  for (std::size_t j = 0; j < code.instructions.size(); ++j) {
    const Instruction& what = code.instructions[j].what;
    if (what.guard == kTrue && what.guard_negated) counts.executions[j] = 0.0;
  }
}

}  // namespace

ExecutionCounts count_executions(const MachineCode& code, const ptx::Program& program,
                                 const ptx::Profile& profile) {
  ExecutionCounts counts;
  counts.executions.assign(code.instructions.size(), 0.0);
  counts.active.assign(code.instructions.size(), 0.0);
  counts.block_executions.assign(code.flow.blocks.size(), 0.0);
  counts.ptx_instruction.assign(code.instructions.size(), kNone);
  const ptx::ControlFlow& flow = program.code().control_flow;
  if (profile.warps == 0 || flow.block_of.size() != profile.instructions.size() ||
      code.flow.blocks.empty() || flow.loops.size() > kMostPtxLoops) {
    counts.matched_memory = 0.0;
    return counts;
  }
  const LoopMatch match(code, flow, profile);
  counts.ptx_instruction = match.ptx_instructions();
  Counter(code, match, counts).run();
  leave_out_never(code, counts);
  judge(code, match, profile, counts);
  return counts;
}

}  // namespace regraph::sass
