// From a Triton kernel's text to a candidate.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "kernel/candidate.h"
#include "triton/kernel_text.h"

#include <string>
#include <vector>

namespace regraph::triton {

// Compiles `text` for `architecture`, for what a launch needs and only the compile tells; the
// evaluator finds the result in the cache. `compiler` must be one with_triton. Errors as
// Compiler::compile; parse, where the grid is none.
[[nodiscard]] Result<Candidate> make_candidate(Compiler& compiler, const KernelText& text,
                                               const std::string& architecture,
                                               std::vector<std::string> assumptions,
                                               const Cancellation& cancellation);

// The same, but a text that does not compile is a candidate all the same: the evaluator says what
// is wrong with it.
[[nodiscard]] Result<Candidate> make_candidate_or_broken(Compiler& compiler, const KernelText& text,
                                                         const std::string& architecture,
                                                         std::vector<std::string> assumptions,
                                                         const Cancellation& cancellation);

}  // namespace regraph::triton
