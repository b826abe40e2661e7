#include "eval/verify/untaken_branches.h"

#include "ptx/decode/code.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string_view>
#include <utility>

namespace regraph::verify {
namespace {

bool decides(std::string_view mnemonic) {
  return mnemonic.starts_with("setp.") || mnemonic.ends_with(".pred");
}

// Linking keeps the order of a function's instructions and appends what it calls.
void read_constants(const ptx::Function& function, std::size_t instruction, UntakenBranch& branch) {
  if (instruction >= function.instructions.size()) return;
  const ptx::Instruction& one = function.instructions[instruction];
  for (std::uint32_t i = 1; i < one.operand_count; ++i) {
    const ptx::Operand& operand = function.operands[one.first_operand + i];
    using Kind = ptx::Operand::Kind;
    if (operand.kind == Kind::integer) branch.integer = static_cast<std::int64_t>(operand.bits);
    if (operand.kind == Kind::real32)
      branch.real = std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits));
    if (operand.kind == Kind::real64) branch.real = std::bit_cast<double>(operand.bits);
  }
}

}  // namespace

std::string UntakenBranch::text() const {
  const std::string where = source_line > 0 ? fmt::format("line {} of the source", source_line)
                                            : fmt::format("PTX line {}", ptx_line);
  std::string constant;
  if (integer) constant = fmt::format(" with {}", *integer);
  if (real) constant = fmt::format(" with {:g}", *real);
  return fmt::format("{} ({}{}, which {} holds)", where, comparison, constant,
                     never ? "never" : "always");
}

namespace {

// Calls `visit` with each comparison and its number in the plan.
template <typename Visit>
void for_each_comparison(const LoadedPlan& plan, const Visit& visit) {
  std::size_t at = 0;
  for (std::size_t launch = 0; launch < plan.size(); ++launch) {
    const ptx::Program::Code& code = plan[launch].program.code();
    for (std::size_t i = 0; i < code.instructions.size(); ++i, ++at) {
      const ptx::InstructionInfo& one = code.instructions[i];
      if (!decides(one.mnemonic)) continue;
      UntakenBranch branch;
      branch.launch = launch;
      branch.instruction = i;
      branch.comparison = one.mnemonic;
      branch.source_line = one.source_line;
      branch.ptx_line = one.line;
      read_constants(*code.function, i, branch);
      visit(at, std::move(branch));
    }
  }
}

}  // namespace

std::vector<UntakenBranch> untaken_branches(const LoadedPlan& plan, const PathSet& taken) {
  std::vector<UntakenBranch> branches;
  for_each_comparison(plan, [&](std::size_t at, UntakenBranch branch) {
    if (at >= taken.instructions().size()) return;
    const std::uint8_t bits = taken.instructions()[at];
    const bool was_false = (bits & PathSet::kResultFalse) != 0;
    const bool was_true = (bits & PathSet::kResultTrue) != 0;
    if (was_false == was_true) return;
    branch.never = was_false;
    branches.push_back(std::move(branch));
  });
  return branches;
}

std::vector<UntakenBranch> all_comparisons(const LoadedPlan& plan) {
  std::vector<UntakenBranch> all;
  for_each_comparison(plan,
                      [&](std::size_t, UntakenBranch branch) { all.push_back(std::move(branch)); });
  return all;
}

PathSet other_ways(const LoadedPlan& plan, const std::vector<UntakenBranch>& branches) {
  std::vector<std::size_t> first = {0};
  for (const LoadedLaunch& launch : plan)
    first.push_back(first.back() + launch.program.instruction_count());
  PathSet ways;
  for (const UntakenBranch& branch : branches)
    ways.add_way(first[branch.launch] + branch.instruction,
                 branch.never ? PathSet::kResultTrue : PathSet::kResultFalse);
  return ways;
}

}  // namespace regraph::verify
