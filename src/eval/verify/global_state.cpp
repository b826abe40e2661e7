#include "eval/verify/global_state.h"

#include "ptx/decode/opcode.h"

#include <algorithm>
#include <array>
#include <set>

namespace regraph::verify {

namespace {

// What computes an address from an address; anything else that takes one hides it.
constexpr std::array<std::string_view, 12> kArithmetic = {
    "mov", "add", "sub", "mad", "cvt", "cvta", "selp", "and", "or", "shl", "shr", "xor"};

// Whether the instruction uses what stands in the operand as the place of a tensor map and in no
// other way. Maps are no state: a block finds those alone that it put there itself
// (decode/tensor_map.h).
bool is_place_of_map(const ptx::Instruction& instruction, std::uint32_t operand) {
  const std::string_view mnemonic = instruction.mnemonic;
  if (mnemonic.starts_with("cp.async.bulk.tensor.")) return operand == 1;
  return operand == 0 && (mnemonic.starts_with("tensormap.cp_fenceproxy.") ||
                          mnemonic.starts_with("fence.proxy.tensormap"));
}

// Follows one variable through one function.
class Follower {
 public:
  Follower(const ptx::Module& module, const ptx::Function& function, std::uint32_t variable,
           const std::vector<std::string>& harmless)
      : module_(module),
        function_(function),
        variable_(variable),
        harmless_(harmless),
        derived_(function.registers.size(), false) {}

  // What happens to it; no name: nothing that matters.
  StatefulVariable run() {
    StatefulVariable found;
    bool changed = true;
    while (changed && found.name.empty()) {
      changed = false;
      for (const ptx::Instruction& instruction : function_.instructions) {
        const std::string what = effect(instruction, changed);
        if (what.empty()) continue;
        found = {module_.variables[variable_].name, what, instruction.source_line};
        break;
      }
    }
    if (found.name.empty() && holds_maps_ && is_loaded_)
      found = {module_.variables[variable_].name, "holds tensor maps and is read", 0};
    return found;
  }

 private:
  template <class Visit>
  void for_leaves(const ptx::Operand& operand, const Visit& visit) const {
    const bool nested =
        operand.kind == ptx::Operand::Kind::list || operand.kind == ptx::Operand::Kind::address;
    if (!nested) return visit(operand);
    for (std::uint32_t i = 0; i < operand.count; ++i)
      visit(function_.elements[operand.index + i]);
  }

  bool mentions(const ptx::Operand& operand) const {
    bool found = false;
    for_leaves(operand, [&](const ptx::Operand& leaf) {
      found |= leaf.kind == ptx::Operand::Kind::variable && leaf.index == variable_;
      found |= leaf.kind == ptx::Operand::Kind::reg && leaf.index < derived_.size() &&
               derived_[leaf.index];
    });
    return found;
  }

  void derive(const ptx::Operand& operand, bool& changed) {
    for_leaves(operand, [&](const ptx::Operand& leaf) {
      if (leaf.kind != ptx::Operand::Kind::reg || leaf.index >= derived_.size()) return;
      changed |= !derived_[leaf.index];
      derived_[leaf.index] = true;
    });
  }

  // Of the arguments of calls, those that only harmless functions get.
  bool handed_to_harmless(const ptx::Operand& parameter) const {
    std::uint32_t index = ~0U;
    for_leaves(parameter, [&](const ptx::Operand& leaf) {
      if (leaf.kind == ptx::Operand::Kind::variable) index = leaf.index;
    });
    bool any = false;
    for (const ptx::Instruction& call : function_.instructions) {
      if (!call.mnemonic.starts_with("call")) continue;
      bool passes = false;
      std::string_view callee;
      for (std::uint32_t i = 0; i < call.operand_count; ++i) {
        const ptx::Operand& operand = function_.operands[call.first_operand + i];
        if (operand.kind == ptx::Operand::Kind::function) callee = operand.text;
        for_leaves(operand, [&](const ptx::Operand& leaf) {
          passes |= leaf.kind == ptx::Operand::Kind::variable && leaf.index == index;
        });
      }
      if (!passes) continue;
      any = true;
      if (!std::binary_search(harmless_.begin(), harmless_.end(), callee)) return false;
    }
    return any;
  }

  std::string effect(const ptx::Instruction& instruction, bool& changed) {
    const std::uint32_t count = instruction.operand_count;
    const auto operand = [&](std::uint32_t i) -> const ptx::Operand& {
      return function_.operands[instruction.first_operand + i];
    };
    bool mentioned = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!mentions(operand(i))) continue;
      const bool is_place = is_place_of_map(instruction, i);
      holds_maps_ |= is_place;
      mentioned |= !is_place;
    }
    if (!mentioned) return "";
    const ptx::Opcode opcode(instruction.mnemonic);
    const std::string_view name = opcode.name();
    is_loaded_ |= name == "ld" || name == "ldu" || name == "cp";
    if (name == "ld" || name == "ldu" || name == "prefetch") return "";
    if (name == "st" || name == "atom" || name == "red" || name == "cp" || name == "stmatrix") {
      if (mentions(operand(0)) || (name == "atom" && count > 1 && mentions(operand(1))))
        return "is written";
      // The source of a copy is read.
      if (name == "cp") return "";
      if (name == "st" && opcode.has("param") && handed_to_harmless(operand(0))) return "";
      return "has its address stored";
    }
    if (std::find(kArithmetic.begin(), kArithmetic.end(), name) == kArithmetic.end())
      return "has its address taken by " + std::string(instruction.mnemonic);
    if (count > 0) derive(operand(0), changed);
    return "";
  }

  const ptx::Module& module_;
  const ptx::Function& function_;
  const std::uint32_t variable_;
  const std::vector<std::string>& harmless_;
  bool holds_maps_ = false;
  bool is_loaded_ = false;
  std::vector<bool> derived_;  // registers that hold the variable's address or are made of it
};

// Whether the initial value of another variable is this one's address.
bool stored_in_a_table(const ptx::Module& module, std::uint32_t variable) {
  return std::any_of(
      module.variables.begin(), module.variables.end(), [&](const ptx::Variable& table) {
        return std::any_of(table.addresses.begin(), table.addresses.end(), [&](const auto& one) {
          return !one.of_function && one.variable == variable;
        });
      });
}

}  // namespace

bool chooses_places_of_maps(const ptx::Function& function, std::string_view special) {
  constexpr std::array<std::string_view, 7> kComputes = {"mov", "add", "mul", "mad",
                                                         "shl", "cvt", "cvta"};
  std::vector<bool> derived(function.registers.size(), false);
  const auto follows = [&](const ptx::Operand& leaf) {
    if (leaf.kind == ptx::Operand::Kind::special) return leaf.text == special;
    return leaf.kind == ptx::Operand::Kind::reg && derived[leaf.index];
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (const ptx::Instruction& instruction : function.instructions) {
      const std::string_view name = ptx::Opcode(instruction.mnemonic).name();
      const bool computes = std::find(kComputes.begin(), kComputes.end(), name) != kComputes.end();
      if (instruction.guard >= 0 && derived[static_cast<std::size_t>(instruction.guard)])
        return false;
      for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
        const ptx::Operand& operand = function.operands[instruction.first_operand + i];
        const bool is_address = operand.kind == ptx::Operand::Kind::address;
        const bool is_nested = is_address || operand.kind == ptx::Operand::Kind::list;
        for (std::uint32_t j = 0; j < (is_nested ? operand.count : 1); ++j) {
          const ptx::Operand& leaf = is_nested ? function.elements[operand.index + j] : operand;
          if (!follows(leaf) || (is_address && j == 0 && is_place_of_map(instruction, i))) continue;
          const ptx::Operand& target = function.operands[instruction.first_operand];
          if (!computes || target.kind != ptx::Operand::Kind::reg || is_address) return false;
          changed |= !derived[target.index];
          derived[target.index] = true;
        }
      }
    }
  }
  return true;
}

std::vector<StatefulVariable> stateful_variables(const ptx::Module& module,
                                                 const std::vector<std::string>& harmless) {
  constexpr std::string_view kStack = "__local_depot";
  std::vector<StatefulVariable> found;
  for (std::uint32_t v = 0; v < module.variables.size(); ++v) {
    const ptx::Variable& variable = module.variables[v];
    if (variable.space == ptx::StateSpace::local && !variable.name.starts_with(kStack)) {
      found.push_back({variable.name, "is local memory declared in assembly", 0});
    }
    if (variable.space != ptx::StateSpace::global) continue;
    if (stored_in_a_table(module, v)) {
      found.push_back({variable.name, "has its address in a table", 0});
      continue;
    }
    for (const ptx::Function& function : module.functions) {
      StatefulVariable one = Follower(module, function, v, harmless).run();
      if (one.name.empty()) continue;
      found.push_back(std::move(one));
      break;
    }
  }
  return found;
}

}  // namespace regraph::verify
