#include "eval/verify/fault_verdict.h"

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
