// Program: parsing, decoding and names.
#include "ptx/decode/code.h"
#include "ptx/decode/handler_tables.h"
#include "ptx/interpreter.h"

#include <fmt/format.h>

namespace regraph::ptx {

Result<Program> Program::load(std::string_view ptx, std::string_view entry) {
  auto module = parse_module(ptx);
  if (!module.ok()) return module.error();
  auto code = decode(*module, entry, DecodeOptions{});
  if (!code.ok()) return code.error();
  return Program(*std::move(code));
}

Result<Program> Program::with_entry(std::string_view entry) const {
  auto code = decode(code_->module, entry, DecodeOptions{});
  if (!code.ok()) return code.error();
  return Program(*std::move(code));
}

std::vector<Program::Symbol> Program::symbols() const {
  std::vector<Symbol> symbols;
  const auto add = [&](const std::vector<PlacedVariable>& placed, bool is_constant) {
    for (const PlacedVariable& one : placed) {
      const Variable& variable = code_->module->variables[one.variable];
      symbols.push_back(
          {std::string(variable.name), variable.bytes, is_constant, !variable.initial.empty()});
    }
  };
  add(code_->globals, false);
  add(code_->constant_variables, true);
  return symbols;
}

const std::vector<Program::ParameterLayout>& Program::parameters() const {
  return code_->parameters;
}
std::size_t Program::static_shared_bytes() const {
  return code_->static_shared_bytes;
}
std::size_t Program::instruction_count() const {
  return code_->instructions.size();
}

std::string_view name(InstructionClass instruction_class) {
  switch (instruction_class) {
    case InstructionClass::move:
      return "move";
    case InstructionClass::fp32_fma:
      return "fp32_fma";
    case InstructionClass::fp32_other:
      return "fp32_other";
    case InstructionClass::fp64:
      return "fp64";
    case InstructionClass::fp16:
      return "fp16";
    case InstructionClass::integer:
      return "integer";
    case InstructionClass::integer_multiply:
      return "integer_multiply";
    case InstructionClass::logic:
      return "logic";
    case InstructionClass::conversion:
      return "conversion";
    case InstructionClass::special_function:
      return "special_function";
    case InstructionClass::divide:
      return "divide";
    case InstructionClass::branch:
      return "branch";
    case InstructionClass::barrier:
      return "barrier";
    case InstructionClass::shuffle:
      return "shuffle";
    case InstructionClass::matrix:
      return "matrix";
    case InstructionClass::load_global:
      return "load_global";
    case InstructionClass::store_global:
      return "store_global";
    case InstructionClass::load_shared:
      return "load_shared";
    case InstructionClass::store_shared:
      return "store_shared";
    case InstructionClass::load_local:
      return "load_local";
    case InstructionClass::store_local:
      return "store_local";
    case InstructionClass::load_constant:
      return "load_constant";
    case InstructionClass::atomic_global:
      return "atomic_global";
    case InstructionClass::atomic_shared:
      return "atomic_shared";
    case InstructionClass::other:
      break;
  }
  return "other";
}

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return "none";
    case FaultKind::out_of_bounds:
      return "out_of_bounds";
    case FaultKind::write_to_read_only:
      return "write_to_read_only";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::barrier_divergence:
      return "barrier_divergence";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::instruction_budget:
      return "instruction_budget";
    case FaultKind::trap:
      return "trap";
    case FaultKind::cancelled:
      return "cancelled";
    case FaultKind::unsupported:
      return "unsupported";
    case FaultKind::data_race:
      return "data_race";
    case FaultKind::uninitialised_read:
      return "uninitialised_read";
    case FaultKind::bad_launch:
      break;
  }
  return "bad_launch";
}

}  // namespace regraph::ptx
