#include "kernel/evaluation.h"

namespace regraph {

const char* name(Verdict verdict) {
  switch (verdict) {
    case Verdict::correct:
      return "correct";
    case Verdict::compile_error:
      return "compile_error";
    case Verdict::launch_error:
      return "launch_error";
    case Verdict::wrong_result:
      return "wrong_result";
    case Verdict::out_of_bounds:
      return "out_of_bounds";
    case Verdict::misaligned_access:
      return "misaligned_access";
    case Verdict::barrier_divergence:
      return "barrier_divergence";
    case Verdict::data_race:
      return "data_race";
    case Verdict::nondeterministic:
      return "nondeterministic";
    case Verdict::timeout:
      return "timeout";
    case Verdict::crash:
      return "crash";
    case Verdict::suspicious:
      return "suspicious";
    case Verdict::unsupported:
      return "unsupported";
    case Verdict::unverified:
      return "unverified";
  }
  return "unknown";
}

const char* name(TimeMethod method) {
  return method == TimeMethod::measured ? "measured" : "predicted";
}

}  // namespace regraph
