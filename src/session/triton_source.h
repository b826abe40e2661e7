// A problem's kernel cut out of a Python file with Triton kernels.
#pragma once

#include "base/cancellation.h"
#include "kernel/problem.h"
#include "session/problem_source.h"
#include "session/session_error.h"
#include "session/toolchain.h"
#include "triton/kernel_text.h"

#include <string>
#include <vector>

namespace regraph {

// Looks for a Python that has Triton: REGRAPH_TRITON_PYTHON, the project's own (tools/setup
// --triton), python3 on PATH. Error: unusable_kernel, with how to get one.
[[nodiscard]] Result<TritonToolkit, SessionError> find_triton(const Toolchain& toolchain,
                                                              const Cancellation& cancellation);

struct CutTriton {
  triton::KernelText text;             // whole, but for what the problem decides (divisible)
  std::vector<std::string> read_only;  // pointers through which nothing is stored
  std::vector<std::string> missing;    // to be said in the comment; `text` cannot be compiled then
};

// Cuts the kernel out of `source.file_text`; `source` gets its name and how it is launched, the
// toolchain a compiler for it. With `fill_in` what is missing is listed, else it is an error.
// Errors: unusable_kernel, interrupted, internal.
[[nodiscard]] Result<CutTriton, SessionError> cut_out_triton(ProblemSource& source,
                                                             Toolchain& toolchain, bool fill_in,
                                                             const Cancellation& cancellation);

// As Triton's launcher would at the bench sizes: which arguments are multiples of 16. Derived test
// sizes are rounded up where that keeps one so; then those before are returned, and a note says so.
// What the text says goes first.
[[nodiscard]] std::vector<Symbols> decide_divisible(triton::KernelText& text, Problem& problem);

}  // namespace regraph
