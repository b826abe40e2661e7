// From kernels and what their manifest says to the whole problem.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "session/observed_lengths.h"
#include "session/problem_source.h"
#include "source/clang_frontend.h"

#include <functional>
#include <string>
#include <vector>

namespace regraph {

struct InferredProblem {
  Problem problem;                      // its notes say what was assumed
  std::vector<std::string> to_fill_in;  // with `fill_in`: what could not be inferred, and why
  bool lengths_inferred = false;        // of a buffer, or the launch
  bool tests_are_chosen = false;        // with lengths that are numbers; nobody gave them
  std::vector<std::string> own_sizes;   // those whose values nothing says
};

// observe_lengths of the kernel to optimise.
using LengthObserver =
    std::function<Result<ObservedLengths>(const Manifest& draft, const ObservationHints& hints)>;

// What the manifest leaves out is inferred from `kernels`, the one to optimise first, and from the
// host code of the file; lengths that these do not tell are observed. A T1 file's numbers become
// expressions where the source shows the same ones. With `fill_in` something stands in for what
// cannot be inferred, so that a manifest can be written for completion. Errors (invalid_argument):
// something cannot be inferred, the manifest does not fit the kernels, a test size is too large to
// be verified; with the reason and what to do.
[[nodiscard]] Result<InferredProblem> infer_problem(
    const ProblemSource& input, const std::vector<source::ParsedKernel>& kernels,
    const LengthObserver& observe, bool fill_in);

}  // namespace regraph
