#include "ptx/decode/function_linking.h"

#include "ptx/decode/opcode.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace regraph::ptx {
namespace {

// Joined functions beyond this are no kernel that anyone wrote.
constexpr std::size_t kMostInstructions = std::size_t{1} << 22;
constexpr std::size_t kMostSegments = 1024;

bool is_call(const Instruction& instruction) {
  return instruction.mnemonic == "call" || instruction.mnemonic.starts_with("call.");
}

class Linker {
 public:
  Linker(const Module& module, const Function& entry) : module_(module), entry_(entry) {}

  Result<LinkedFunction> run(const std::shared_ptr<const Module>& owner) {
    const auto entry_index = static_cast<std::uint32_t>(&entry_ - module_.functions.data());
    add(entry_index);
    // Segments grow while calls are found.
    for (std::uint32_t s = 0; s < linked_.segments.size(); ++s) {
      if (const Status scanned = scan(s); !scanned.ok()) return scanned.error();
      if (linked_.segments.size() > kMostSegments) {
        return fail(ErrorCode::unsupported, "the kernel calls too many functions");
      }
    }
    if (indirect_) {
      for (const Variable& variable : module_.variables) {
        for (const AddressInitialiser& address : variable.addresses) {
          if (address.of_function) address_taken(address.variable);
        }
      }
      for (std::uint32_t s = 0; s < linked_.segments.size(); ++s) {
        if (const Status scanned = scan(s); !scanned.ok()) return scanned.error();
      }
      for (const std::uint32_t s : indirect_callers_) {
        std::vector<std::uint32_t>& callees = linked_.segments[s].callees;
        callees.insert(callees.end(), linked_.addressed.begin(), linked_.addressed.end());
      }
    }
    if (linked_.segments.size() == 1) {
      linked_.segments[0].last_instruction = static_cast<std::uint32_t>(entry_.instructions.size());
      linked_.function = std::shared_ptr<const Function>(owner, &entry_);
      return std::move(linked_);
    }
    mark_recursion();
    return join();
  }

 private:
  std::uint32_t add(std::uint32_t function) {
    const auto [found, is_new] =
        segment_of_.try_emplace(function, static_cast<std::uint32_t>(linked_.segments.size()));
    if (is_new) {
      linked_.segments.emplace_back();
      linked_.segments.back().function = function;
    }
    return found->second;
  }

  void address_taken(std::uint32_t function) {
    function = function_with_body(module_, function);
    if (function >= module_.functions.size() || !module_.functions[function].has_body) return;
    const std::uint32_t segment = add(function);
    std::vector<std::uint32_t>& addressed = linked_.addressed;
    if (std::find(addressed.begin(), addressed.end(), segment) == addressed.end()) {
      addressed.push_back(segment);
    }
  }

  Status scan(std::uint32_t s) {
    const Function& function = module_.functions[linked_.segments[s].function];
    linked_.segments[s].callees.clear();
    for (const Instruction& instruction : function.instructions) {
      if (!is_call(instruction)) {
        for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
          const Operand& operand = function.operands[instruction.first_operand + i];
          if (operand.kind == Operand::Kind::function) address_taken(operand.index);
        }
        continue;
      }
      const Result<CallTarget> call = call_target(module_, function, instruction);
      if (!call.ok()) return call.error();
      if (call->kind == CallTarget::Kind::direct) {
        const std::uint32_t callee = add(call->function);  // may move the segments
        linked_.segments[s].callees.push_back(callee);
      } else if (call->kind == CallTarget::Kind::indirect) {
        indirect_ = true;
        if (std::find(indirect_callers_.begin(), indirect_callers_.end(), s) ==
            indirect_callers_.end()) {
          indirect_callers_.push_back(s);
        }
      }
    }
    return {};
  }

  // A segment that reaches itself over calls is recursive.
  void mark_recursion() {
    for (std::uint32_t s = 0; s < linked_.segments.size(); ++s) {
      std::vector<bool> seen(linked_.segments.size(), false);
      std::vector<std::uint32_t> work = linked_.segments[s].callees;
      while (!work.empty()) {
        const std::uint32_t at = work.back();
        work.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        const std::vector<std::uint32_t>& next = linked_.segments[at].callees;
        work.insert(work.end(), next.begin(), next.end());
      }
      linked_.segments[s].recursive = seen[s];
    }
  }

  Result<LinkedFunction> join() {
    auto joined = std::make_shared<Function>();
    joined->name = entry_.name;
    joined->is_entry = true;
    joined->has_body = true;
    joined->line = entry_.line;
    joined->parameters = entry_.parameters;
    for (std::uint32_t s = 0; s < linked_.segments.size(); ++s) {
      append(module_.functions[linked_.segments[s].function], s, *joined);
      if (joined->instructions.size() > kMostInstructions ||
          joined->registers.size() > kMaximumRegisters) {
        return fail(ErrorCode::unsupported,
                    "the kernel and the functions it calls have too many instructions");
      }
    }
    linked_.function = std::move(joined);
    return std::move(linked_);
  }

  void append(const Function& from, std::uint32_t s, Function& to) {
    Segment& segment = linked_.segments[s];
    const auto registers = static_cast<std::uint32_t>(to.registers.size());
    const auto operands = static_cast<std::uint32_t>(to.operands.size());
    const auto elements = static_cast<std::uint32_t>(to.elements.size());
    const auto instructions = static_cast<std::uint32_t>(to.instructions.size());
    segment.first_instruction = instructions;
    segment.first_register = registers;
    const auto moved = [&](Operand operand) {
      if (operand.kind == Operand::Kind::reg) operand.index += registers;
      if (operand.kind == Operand::Kind::list || operand.kind == Operand::Kind::address) {
        operand.index += elements;
      }
      if (operand.second >= 0) operand.second += static_cast<std::int32_t>(registers);
      return operand;
    };
    to.registers.insert(to.registers.end(), from.registers.begin(), from.registers.end());
    for (const Operand& operand : from.operands)
      to.operands.push_back(moved(operand));
    for (const Operand& operand : from.elements)
      to.elements.push_back(moved(operand));
    for (Instruction instruction : from.instructions) {
      instruction.first_operand += operands;
      if (instruction.guard >= 0) instruction.guard += static_cast<std::int32_t>(registers);
      instruction.segment = s;
      to.instructions.push_back(instruction);
    }
    // Falling off the end returns.
    Instruction end;
    end.mnemonic = "ret";
    end.first_operand = static_cast<std::uint32_t>(to.operands.size());
    end.line = from.instructions.empty() ? from.line : from.instructions.back().line;
    end.segment = s;
    to.instructions.push_back(end);
    segment.last_instruction = static_cast<std::uint32_t>(to.instructions.size());
    for (Label label : from.labels) {
      label.segment = s;
      label.instruction += instructions;
      to.labels.push_back(label);
    }
    for (Function::BranchTargets targets : from.branch_targets) {
      targets.segment = s;
      to.branch_targets.push_back(std::move(targets));
    }
  }

  const Module& module_;
  const Function& entry_;
  LinkedFunction linked_;
  std::map<std::uint32_t, std::uint32_t> segment_of_;  // function -> segment
  std::vector<std::uint32_t> indirect_callers_;
  bool indirect_ = false;
};

}  // namespace

// Function names may be declared several times: the one with a body counts.
std::uint32_t function_with_body(const Module& module, std::uint32_t index) {
  const std::vector<Function>& functions = module.functions;
  if (index >= functions.size() || functions[index].has_body) return index;
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    if (functions[i].has_body && functions[i].name == functions[index].name) return i;
  }
  return index;
}

Result<CallTarget> call_target(const Module& module, const Function& function,
                               const Instruction& instruction) {
  CallTarget call;
  bool found = false;
  for (std::uint32_t i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = function.operands[instruction.first_operand + i];
    if (operand.kind == Operand::Kind::list) {
      (found ? call.arguments : call.results) = &operand;
      continue;
    }
    if (found) continue;  // the prototype of an indirect call
    found = true;
    call.target = i;
    call.name = operand.text;
    if (operand.kind == Operand::Kind::reg) {
      call.kind = CallTarget::Kind::indirect;
    } else if (operand.kind == Operand::Kind::function) {
      call.function = function_with_body(module, operand.index);
      const bool known =
          call.function < module.functions.size() && module.functions[call.function].has_body;
      call.kind = known ? CallTarget::Kind::direct : CallTarget::Kind::external;
    } else if (operand.kind != Operand::Kind::label) {
      found = false;
    }
  }
  if (!found) {
    return fail(ErrorCode::parse,
                fmt::format("PTX line {}: a call without a function", instruction.line));
  }
  return call;
}

Result<LinkedFunction> link_functions(const std::shared_ptr<const Module>& module,
                                      const Function& entry) {
  return Linker(*module, entry).run(module);
}

}  // namespace regraph::ptx
