#include "eval/model/program_facts.h"

#include "eval/model/loop_recurrences.h"
#include "ptx/decode/code.h"
#include "ptx/decode/def_use.h"
#include "ptx/decode/opcode.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace regraph {
namespace {

using ptx::BasicBlock;
using ptx::InstructionClass;
using ptx::InstructionRole;

// A name of the table by which sinf, cosf and the like reduce large arguments.
constexpr std::string_view kCircularTable = "i2opi";

bool is_floating(InstructionClass kind) {
  return kind == InstructionClass::fp32_fma || kind == InstructionClass::fp32_other ||
         kind == InstructionClass::fp64 || kind == InstructionClass::fp16;
}

class ShapeReader {
 public:
  ShapeReader(const ptx::Program& program, const ptx::Profile& profile)
      : program_(program),
        code_(program.code()),
        function_(*code_.function),
        flow_(code_.control_flow),
        profile_(profile),
        defined_in_(function_.registers.size()) {
    for (std::size_t index = 0; index < profile_.instructions.size(); ++index) {
      for (const std::uint32_t target :
           ptx::effect_of(function_, function_.instructions[index]).defines)
        defined_in_[target].push_back(block_of(index).loop);
    }
  }

  void fill(Facts& facts) const {
    double all = 0.0;
    double guards = 0.0;
    double approximable = 0.0;
    double accesses = 0.0;
    double repeated = 0.0;
    int depth = 0;
    for (std::size_t index = 0; index < profile_.instructions.size(); ++index) {
      const double times = executions(index);
      if (times == 0.0) continue;
      all += times;
      depth = std::max(depth, profile_.instructions[index].loop_depth);
      if (is_guard(index)) guards += times;
      if (is_approximable(index)) approximable += times;
      const InstructionClass kind = profile_.instructions[index].instruction_class;
      if (kind != InstructionClass::load_global && kind != InstructionClass::store_global) continue;
      accesses += times;
      if (stays_in_place(index)) repeated += times;
    }
    if (all == 0.0) return;
    facts["loop_depth"] = depth;
    facts["guard_share"] = guards / all;
    if (!has_circular_functions()) facts["approximable_share"] = approximable / all;
    if (accesses > 0.0) facts["repeated_access_share"] = repeated / accesses;
    fill_accumulations(facts);
  }

 private:
  [[nodiscard]] double executions(std::size_t index) const {
    return static_cast<double>(profile_.instructions[index].warp_executions);
  }
  [[nodiscard]] const BasicBlock& block_of(std::size_t index) const {
    return flow_.blocks[code_.instructions[index].block];
  }

  // Loops that ran, those first that had the most instructions executed in them, nested ones apart.
  [[nodiscard]] std::vector<std::int32_t> loops_by_heat() const {
    std::vector<double> executed(flow_.loops.size(), 0.0);
    for (std::size_t index = 0; index < profile_.instructions.size(); ++index) {
      const std::int32_t loop = block_of(index).loop;
      if (loop >= 0) executed[static_cast<std::size_t>(loop)] += executions(index);
    }
    std::vector<std::int32_t> loops;
    for (std::size_t loop = 0; loop < executed.size(); ++loop) {
      if (executed[loop] > 0.0) loops.push_back(static_cast<std::int32_t>(loop));
    }
    std::ranges::stable_sort(loops, std::ranges::greater(), [&](std::int32_t loop) {
      return executed[static_cast<std::size_t>(loop)];
    });
    return loops;
  }

  // All instructions in the loop; of -1, in any loop.
  [[nodiscard]] std::vector<std::size_t> instructions_in(std::int32_t loop) const {
    std::vector<std::size_t> found;
    for (std::size_t index = 0; index < profile_.instructions.size(); ++index) {
      const std::int32_t own = block_of(index).loop;
      if (own >= 0 && flow_.inside(own, loop)) found.push_back(index);
    }
    return found;
  }

  void fill_accumulations(Facts& facts) const {
    // Loops that were unrolled as a whole are none any more; what they carried cannot be told.
    for (const std::int32_t loop : loops_by_heat()) {
      double& chains = facts["accumulation_chains"];
      chains = find_recurrences(program_, instructions_in(loop)).accumulations;
      if (chains > 0.0) break;
    }
    double arithmetic = 0.0;
    for (std::size_t index = 0; index < profile_.instructions.size(); ++index) {
      if (is_floating(profile_.instructions[index].instruction_class))
        arithmetic += executions(index);
    }
    double products = 0.0;
    for (const std::size_t index : find_recurrences(program_, instructions_in(-1)).products) {
      products += executions(index);
      // Other arithmetic on integers may be of indices.
      if (!is_floating(profile_.instructions[index].instruction_class))
        arithmetic += executions(index);
    }
    facts["accumulated_product_share"] = arithmetic > 0.0 ? products / arithmetic : 0.0;
  }

  // Whether code from the block on, without a choice, comes to a loop that the block is not in.
  [[nodiscard]] bool leads_into_loop(std::uint32_t block) const {
    const std::int32_t from = flow_.blocks[block].loop;
    for (std::size_t steps = 0; steps < flow_.blocks.size(); ++steps) {
      const BasicBlock& at = flow_.blocks[block];
      if (at.successors.size() != 1) return false;
      block = at.successors.front();
      const std::int32_t loop = flow_.blocks[block].loop;
      if (loop != from)
        return loop >= 0 && flow_.loops[static_cast<std::size_t>(loop)].header == block;
    }
    return false;
  }

  [[nodiscard]] bool ends_kernel(std::uint32_t block) const {
    const std::string_view name =
        ptx::Opcode(function_.instructions[flow_.blocks[block].first].mnemonic).name();
    return name == "ret" || name == "exit";
  }

  // A condition on work: neither what keeps a loop running or decides whether it is entered, nor an
  // early end of a thread.
  [[nodiscard]] bool is_guard(std::size_t index) const {
    if (function_.instructions[index].guard < 0) return false;
    if (code_.instructions[index].instruction_class != InstructionClass::branch) return true;
    const BasicBlock& block = block_of(index);
    if (block.successors.size() < 2) return false;  // to the end of the code
    return std::ranges::none_of(block.successors, [&](std::uint32_t next) {
      const std::int32_t loop = flow_.blocks[next].loop;
      const bool to_header =
          loop >= 0 && flow_.loops[static_cast<std::size_t>(loop)].header == next;
      const bool leaves = !flow_.inside(loop, block.loop);
      return to_header || leaves || ends_kernel(next) || leads_into_loop(next);
    });
  }

  // Single-precision functions, roots and divisions have faster forms.
  [[nodiscard]] bool is_approximable(std::size_t index) const {
    const InstructionClass kind = profile_.instructions[index].instruction_class;
    return (kind == InstructionClass::special_function || kind == InstructionClass::divide) &&
           ptx::Opcode(function_.instructions[index].mnemonic).last_type() == ptx::DataType::f32;
  }

  // sinf is polynomials, so that its instructions do not tell it.
  [[nodiscard]] bool has_circular_functions() const {
    return std::ranges::any_of(code_.module->variables, [](const ptx::Variable& variable) {
      return variable.name.find(kCircularTable) != std::string_view::npos;
    });
  }

  // Whether the access has the same address whenever its innermost loop comes by.
  [[nodiscard]] bool stays_in_place(std::size_t index) const {
    const std::int32_t loop = block_of(index).loop;
    if (loop < 0) return false;
    const ptx::InstructionEffect effect = ptx::effect_of(function_, function_.instructions[index]);
    if (effect.role != InstructionRole::load && effect.role != InstructionRole::store) return false;
    return std::ranges::none_of(effect.addresses, [&](std::uint32_t address) {
      return std::ranges::any_of(defined_in_[address], [&](std::int32_t definition) {
        return flow_.inside(definition, loop);
      });
    });
  }

  const ptx::Program& program_;
  const ptx::Program::Code& code_;
  const ptx::Function& function_;
  const ptx::ControlFlow& flow_;
  const ptx::Profile& profile_;
  std::vector<std::vector<std::int32_t>> defined_in_;  // by register: loops of its definitions
};

}  // namespace

void fill_program_facts(const ptx::Program& program, const ptx::Profile& profile, Facts& facts) {
  if (profile.instructions.size() != program.code().instructions.size()) return;
  ShapeReader(program, profile).fill(facts);
}

}  // namespace regraph
