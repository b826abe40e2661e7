// A Triton kernel that somebody else wrote, as a candidate.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "session/opened_problem.h"
#include "session/toolchain.h"

#include <string>
#include <vector>

namespace regraph {

// `source` is a Python file; what its comment does not say is as of the original. `opened` is of a
// Triton kernel, `toolchain` as it was left when that was opened. One that does not compile comes
// back as a candidate all the same: the evaluator says what is wrong with it. Errors: refused
// (other parameters, a missing constant), compile (no such kernel, or what is no kernel),
// cancelled, io.
[[nodiscard]] Result<Candidate> read_triton_candidate(const std::string& source,
                                                      const OpenedProblem& opened,
                                                      const Toolchain& toolchain,
                                                      std::vector<std::string> assumptions,
                                                      const Cancellation& cancellation);

// Verifies `winner` of a kernel that was compiled for multiples of 16 as it is compiled for other
// sizes, against the original compiled so, at OpenedProblem::other_sizes. Returns what is wrong,
// empty where nothing is. Errors: as Compiler::compile; unsupported, the original cannot be judged
// so.
[[nodiscard]] Result<std::string> check_other_sizes(const OpenedProblem& opened,
                                                    const Toolchain& toolchain,
                                                    const Candidate& winner, std::uint64_t seed,
                                                    const Cancellation& cancellation);

}  // namespace regraph
