// A problem that is ready to be worked on: read, compiled, parsed and checked.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiled_plan.h"
#include "eval/verify/verifier.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "session/choose_device.h"
#include "session/problem_source.h"
#include "session/toolchain.h"
#include "triton/kernel_text.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct OpenedProblem {
  ChosenDevice device;
  Problem problem;
  Candidate original;
  CompiledPlan compiled;                     // the original, for the device
  std::optional<triton::KernelText> triton;  // the original, where it is one of Triton's
  // Test sizes that it is compiled otherwise for than for the bench size; none: for all alike.
  std::vector<Symbols> other_sizes;
  bool rewritable = false;
  std::string opaque_reason;                    // why not rewritable
  std::vector<std::string> warnings;            // of the original's verification
  std::vector<std::string> template_arguments;  // of the kernel, where it is a template
  std::vector<std::string> to_fill_in;  // with OpenOptions::fill_in: what could not be inferred
  std::unique_ptr<Verifier> verifier;
  std::optional<capture::CapturedKernel> capture;  // the program that launched it, where known
};

// Lets NVRTC in its sandbox accept the source, or nvcc where that refuses it for want of headers
// (`toolchain` then compiles with nvcc from here on, and a note says so); parses it, infers what
// the manifest leaves out, decides whether the rewriter can be trusted with the kernel (what it
// prints of the kernel must compile to the same PTX), and verifies the original against itself.
// `toolchain` must outlive the result. Errors: usage, unusable_kernel, internal, interrupted.
[[nodiscard]] Result<std::unique_ptr<OpenedProblem>, SessionError> open_problem(
    ProblemSource source, ChosenDevice device, Toolchain& toolchain, const OpenOptions& options,
    const Cancellation& cancellation);

}  // namespace regraph
