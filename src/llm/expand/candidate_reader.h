// From source text that somebody else wrote to a candidate.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiler.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "source/clang_frontend.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph::llm {

// Gives text the form that the rewriter works on, and so the identity under which the search knows
// it: two ways of writing the same kernel are one state. Thread-safe.
class CandidateReader {
 public:
  // `compiler` must outlive this. `architecture` is e.g. "sm_90".
  CandidateReader(Compiler& compiler, source::FrontEndConfiguration front_end,
                  std::string architecture)
      : compiler_(compiler),
        front_end_(std::move(front_end)),
        architecture_(std::move(architecture)) {}

  // One that does not compile, that the front end has no form for, or whose form does not compile
  // to the same PTX comes back without a form: steps of the rewriter do not apply to it, and its
  // identity is that of its tokens. What is wrong with it, the evaluator says. Nothing is parsed in
  // this process before the compiler in its sandbox has accepted it. Error (refused): the compiled
  // kernel's parameters are not those of `signature`.
  [[nodiscard]] Result<Candidate> read(const std::string& source, const LaunchPlan& plan,
                                       const KernelSignature& signature,
                                       std::vector<std::string> assumptions,
                                       const Cancellation& cancellation) const;

 private:
  Compiler& compiler_;
  source::FrontEndConfiguration front_end_;
  std::string architecture_;
};

// The text's tokens with single blanks between them, comments left out: equal for texts that differ
// only in formatting.
[[nodiscard]] std::string token_text(std::string_view source);

}  // namespace regraph::llm
