// Calls: arguments and results are copied between frames in local memory.
#include "ptx/decode/decoder.h"
#include "ptx/decode/execution.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::ptx {

// Where a variable that is an argument or a result lies in the frame of this function.
bool Decoder::frame_offset(const Operand& operand, std::uint64_t* offset, std::uint64_t* bytes) {
  const auto placed =
      operand.kind == Operand::Kind::variable ? placed_.find(operand.index) : placed_.end();
  if (placed == placed_.end() || placed->second.first != StateSpace::local) {
    return unsupported("an argument or a result that is not a .param variable");
  }
  *offset = placed->second.second;
  *bytes = code_.module->variables[operand.index].bytes;
  return true;
}

bool Decoder::call_copies(const CallTarget& call, const Function& callee,
                          CallSite::Target& target) {
  const auto copies = [&](const Operand* given, const std::vector<std::uint32_t>& declared,
                          bool results, std::vector<CallSite::Copy>& to) {
    const std::size_t count = given == nullptr ? 0 : given->count;
    if (count != declared.size()) return malformed("a call with the wrong number of arguments");
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t offset = 0;
      std::uint64_t bytes = 0;
      if (!frame_offset(code_.function->elements[given->index + i], &offset, &bytes)) return false;
      const std::uint64_t inside = placed_[declared[i]].second;
      bytes = std::min(bytes, code_.module->variables[declared[i]].bytes);
      to.push_back(results ? CallSite::Copy{inside, offset, bytes}
                           : CallSite::Copy{offset, inside, bytes});
    }
    return true;
  };
  return copies(call.arguments, callee.parameters, false, target.arguments) &&
         copies(call.results, callee.results, true, target.results);
}

// __assertfail(message, file, line, function, size of a character)
bool Decoder::decode_assertion(const CallTarget& call) {
  Record& record = emit(Operation::trap, LaneType::u32);
  record.flags = kPlainTrap;
  constexpr std::uint32_t kArguments = 5;
  if (call.arguments == nullptr || call.arguments->count != kArguments) return true;
  std::uint64_t offsets[kArguments];
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < kArguments; ++i) {
    const Operand& argument = code_.function->elements[call.arguments->index + i];
    if (!frame_offset(argument, &offsets[i], &bytes)) return false;
  }
  record.flags = kAssertion;
  record.a = static_cast<std::uint32_t>(offsets[0]);
  record.b = static_cast<std::uint32_t>(offsets[1]);
  record.c = static_cast<std::uint32_t>(offsets[2]);
  record.e = static_cast<std::uint32_t>(offsets[3]);
  return true;
}

bool Decoder::decode_call() {
  classify(InstructionClass::other);
  const Result<CallTarget> call = call_target(*code_.module, *code_.function, *instruction_);
  if (!call.ok()) return fail(call.error().code, call.error().message);
  if (call->kind == CallTarget::Kind::external) {
    if (call->name == "__assertfail") return decode_assertion(*call);
    if (call->name == "vprintf") {  // what is printed goes nowhere; the call returns 0
      emit(Operation::nothing, LaneType::u32);
      return true;
    }
    return unsupported(fmt::format("a call of '{}'", call->name.substr(0, 80)));
  }
  classify(InstructionClass::branch);
  CallSite site;
  const Segment& caller = code_.segments[instruction_->segment];
  site.caller_frame_bytes = caller.frame_bytes;
  site.saves_registers = caller.recursive;
  const bool indirect = call->kind == CallTarget::Kind::indirect;
  for (std::uint32_t s = 0; s < code_.segments.size(); ++s) {
    const Segment& segment = code_.segments[s];
    const bool reached = indirect ? std::find(code_.addressed.begin(), code_.addressed.end(), s) !=
                                        code_.addressed.end()
                                  : segment.function == call->function && s != 0;
    if (!reached) continue;
    const Function& callee = code_.module->functions[segment.function];
    const std::size_t given = call->arguments == nullptr ? 0 : call->arguments->count;
    const std::size_t wanted = call->results == nullptr ? 0 : call->results->count;
    // A pointer to a function of another type cannot be meant.
    if (indirect && (callee.parameters.size() != given || callee.results.size() != wanted))
      continue;
    CallSite::Target target;
    target.address = function_address(segment.function);
    target.segment = s;
    target.frame_bytes = segment.frame_bytes;
    if (!call_copies(*call, callee, target)) return false;
    site.targets.push_back(std::move(target));
  }
  if (site.targets.empty()) return unsupported("a call that reaches no function");
  std::uint32_t pointer = 0;
  if (indirect && !source(operand(call->target), DataType::u64, &pointer)) return false;
  Record& record =
      emit(indirect ? Operation::call_indirect : Operation::call, LaneType::u32, 0, pointer);
  record.site = static_cast<std::uint32_t>(code_.calls.size());
  code_.calls.push_back(std::move(site));
  return true;
}

}  // namespace regraph::ptx
