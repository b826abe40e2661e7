#include "eval/verify/fault_verdict.h"

#include <fmt/format.h>

namespace regraph::verify {

Verdict verdict_of(ptx::FaultKind kind) {
  switch (kind) {
    case ptx::FaultKind::none:
      return Verdict::correct;
    case ptx::FaultKind::out_of_bounds:
      return Verdict::out_of_bounds;
    case ptx::FaultKind::write_to_read_only:
      return Verdict::suspicious;
    case ptx::FaultKind::misaligned:
      return Verdict::misaligned_access;
    case ptx::FaultKind::barrier_divergence:
      return Verdict::barrier_divergence;
    case ptx::FaultKind::deadlock:
    case ptx::FaultKind::instruction_budget:
    case ptx::FaultKind::cancelled:
      return Verdict::timeout;
    case ptx::FaultKind::data_race:
      return Verdict::data_race;
    case ptx::FaultKind::uninitialised_read:
      return Verdict::suspicious;
    case ptx::FaultKind::trap:
      return Verdict::crash;
    case ptx::FaultKind::bad_launch:
      return Verdict::launch_error;
    case ptx::FaultKind::unsupported:
      return Verdict::unsupported;
  }
  return Verdict::unsupported;
}

std::string describe_fault(const ptx::Fault& fault) {
  std::string text = fault.message.empty() ? std::string(ptx::name(fault.kind)) : fault.message;
  if (fault.kind == ptx::FaultKind::write_to_read_only) text += "; inputs must not be written";
  if (fault.kind == ptx::FaultKind::instruction_budget) {
    text += fmt::format("; a candidate may run {} times as long as the original", kBudgetFactor);
  }
  const bool in_a_thread = fault.block.count() != 0 || fault.ptx_line > 0;
  if (fault.source_line > 0) text += fmt::format(" (line {})", fault.source_line);
  if (in_a_thread && fault.kind != ptx::FaultKind::instruction_budget) {
    text += fmt::format(", block ({}, {}, {}) thread ({}, {}, {})", fault.block.x, fault.block.y,
                        fault.block.z, fault.thread.x, fault.thread.y, fault.thread.z);
  }
  return text;
}

Verdict verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::compile:
      return Verdict::compile_error;
    case ErrorCode::resource:
    case ErrorCode::cancelled:
      return Verdict::timeout;
    case ErrorCode::unsupported:
    case ErrorCode::parse:
      return Verdict::unsupported;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
      return Verdict::launch_error;
    default:
      return Verdict::crash;
  }
}

}  // namespace regraph::verify
