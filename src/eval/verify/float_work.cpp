#include "eval/verify/float_work.h"

#include "eval/verify/element.h"
#include "ptx/decode/code.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>

namespace regraph::verify {
namespace {

// x + x, as compilers write 2 x.
bool adds_to_itself(const ptx::Function& function, std::size_t instruction) {
  const ptx::Instruction& one = function.instructions[instruction];
  if (one.operand_count != 3) return false;
  const ptx::Operand& left = function.operands[one.first_operand + 1];
  const ptx::Operand& right = function.operands[one.first_operand + 2];
  return left.kind == ptx::Operand::Kind::reg && right.kind == ptx::Operand::Kind::reg &&
         left.index == right.index;
}

bool has_constant(const ptx::Function& function, std::size_t instruction) {
  const ptx::Instruction& one = function.instructions[instruction];
  for (std::uint32_t i = 0; i < one.operand_count; ++i) {
    const ptx::Operand::Kind kind = function.operands[one.first_operand + i].kind;
    if (kind == ptx::Operand::Kind::real32 || kind == ptx::Operand::Kind::real64) return true;
  }
  return false;
}

bool is_half(std::string_view type) {
  return type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2";
}

// Numbers of half precision or bfloat16 that an instruction rounds: its results, which are of the
// last type; of conversions of the last but one.
std::uint64_t rounded_by(std::string_view mnemonic) {
  const std::string_view name = mnemonic.substr(0, mnemonic.find('.'));
  constexpr std::string_view kRounding[] = {"add", "sub",  "mul", "fma", "mad",
                                            "red", "atom", "cvt", "ex2", "tanh"};
  if (std::ranges::find(kRounding, name) == std::end(kRounding)) return 0;
  std::string_view types = mnemonic;
  if (name == "cvt") types = types.substr(0, types.rfind('.'));
  const std::string_view type = types.substr(types.rfind('.') + 1);
  if (!is_half(type)) return 0;
  return type.ends_with("x2") ? 2 : 1;
}

}  // namespace

std::uint64_t not_finite(const Problem& problem, const Buffers& buffers) {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!is_floating(argument.type) || !argument.fields.empty()) continue;
    const std::size_t size = size_in_bytes(argument.type);
    for (std::size_t at = 0; at + size <= buffers[i].size(); at += size)
      count += std::isfinite(load_element(argument.type, buffers[i].data() + at)) ? 0U : 1U;
  }
  return count;
}

bool is_near_overflow(const Problem& problem, const Buffers& after,
                      const std::vector<std::vector<std::uint8_t>>& untouched) {
  const auto largest = [](ScalarType type) {
    if (type == ScalarType::f64) return 0x1p500;
    return type == ScalarType::f16 ? 0x1p13 : 0x1p64;
  };
  for (std::size_t i = 0; i < after.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output() || !is_floating(argument.type) || !argument.fields.empty()) continue;
    const std::size_t size = size_in_bytes(argument.type);
    for (std::size_t at = 0; at + size <= after[i].size(); at += size) {
      if (!untouched[i].empty() && untouched[i][at / size] != 0) continue;
      const double value = std::abs(load_element(argument.type, after[i].data() + at));
      if (std::isinf(value) || (std::isfinite(value) && value > largest(argument.type)))
        return true;
    }
  }
  return false;
}

FloatWork float_work(const LoadedPlan& plan, const ptx::Profile& profile) {
  FloatWork work;
  std::size_t at = 0;
  for (const LoadedLaunch& launch : plan) {
    const auto& instructions = launch.program.code().instructions;
    for (std::size_t in_launch = 0; in_launch < instructions.size(); ++in_launch) {
      const ptx::InstructionInfo& one = instructions[in_launch];
      if (at >= profile.instructions.size()) return work;
      const ptx::InstructionProfile& ran = profile.instructions[at++];
      if (ran.warp_executions == 0) continue;
      if (ran.instruction_class == ptx::InstructionClass::load_global)
        work.loads += ran.thread_executions;
      work.exchanges |= ran.instruction_class == ptx::InstructionClass::load_shared ||
                        one.mnemonic.starts_with("shfl");
      const std::string_view mnemonic = one.mnemonic;
      if (ran.instruction_class == ptx::InstructionClass::matrix) {
        work.adds = true;
        work.in_half |= mnemonic.find("f16.f16") != std::string_view::npos &&
                        mnemonic.find("f32") == std::string_view::npos;
      }
      const bool floating = mnemonic.find(".f") != std::string_view::npos ||
                            mnemonic.find(".bf16") != std::string_view::npos;
      if (!floating) continue;
      const std::string_view name = mnemonic.substr(0, mnemonic.find('.'));
      const bool doubles =
          name == "add" && adds_to_itself(*launch.program.code().function, in_launch);
      work.roundings += rounded_by(mnemonic) * ran.thread_executions;
      const bool adds = (name == "add" && !doubles) || name == "sub" || name == "fma" ||
                        name == "mad" || name == "red" || name == "atom";
      if (name == "red" || name == "atom") {
        work.sums_halves_in_any_order |= mnemonic.find(".add") != std::string_view::npos &&
                                         mnemonic.find("f16") != std::string_view::npos;
      }
      if (adds) {
        work.adds = true;
        work.additions += ran.thread_executions;
        work.adds_constants |= has_constant(*launch.program.code().function, in_launch);
      }
      if (name == "mul" || name == "div" || name == "rcp") {
        work.multiplies |= name != "rcp";
        work.products += ran.thread_executions;
      }
      work.in_double |= ran.instruction_class == ptx::InstructionClass::fp64;
      const bool chooses = name == "setp" || name == "set" || name == "min" || name == "max";
      work.chooses |= chooses;
      work.chooses_between |= chooses && !has_constant(*launch.program.code().function, in_launch);
    }
  }
  return work;
}

}  // namespace regraph::verify
