// From source text that somebody else wrote to a candidate.
#pragma once

#include "base/cancellation.h"
#include "eval/compile/compiler.h"
#include "kernel/candidate.h"
#include "kernel/problem.h"
#include "source/clang_frontend.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace regraph {

// How versions of a Triton kernel are read.
struct TritonReading {
  triton::KernelText original;
  std::filesystem::path python;
  std::filesystem::path cut_out;  // cut_out.py
};

// Gives text the form that the rewriter works on, and so the identity under which the search knows
// it: two ways of writing the same kernel are one state. Thread-safe.
class CandidateReader {
 public:
  // `compiler` must outlive this. `architecture` is e.g. "sm_90". `triton` where texts are Triton
  // kernels; `compiler` is one with_triton then.
  CandidateReader(Compiler& compiler, source::FrontEndConfiguration front_end,
                  std::string architecture, std::optional<TritonReading> triton = std::nullopt)
      : compiler_(compiler),
        front_end_(std::move(front_end)),
        architecture_(std::move(architecture)),
        triton_(std::move(triton)) {}

  // One that does not compile, that the front end has no form for, or whose form does not compile
  // to the same PTX comes back without a form: steps of the rewriter do not apply to it, and its
  // identity is that of its tokens. What is wrong with it, the evaluator says. Nothing is parsed in
  // this process before the compiler in its sandbox has accepted it. Error (refused): the compiled
  // kernel's parameters are not those of `signature`. Triton kernels have no form, `plan` is not
  // looked at, and they are known by their text; further errors are those of
  // triton::read_foreign_text.
  [[nodiscard]] Result<Candidate> read(const std::string& source, const LaunchPlan& plan,
                                       const KernelSignature& signature,
                                       std::vector<std::string> assumptions,
                                       const Cancellation& cancellation) const;
  // A candidate that was read in an earlier run. Errors as read.
  [[nodiscard]] Result<Candidate> restore(const Candidate& stored,
                                          const KernelSignature& signature) const;

 private:
  [[nodiscard]] Result<Candidate> read_triton(const std::string& source,
                                              std::vector<std::string> assumptions,
                                              const Cancellation& cancellation) const;

  Compiler& compiler_;
  source::FrontEndConfiguration front_end_;
  std::string architecture_;
  std::optional<TritonReading> triton_;
};

// The text's tokens with single blanks between them, comments left out: equal for texts that differ
// only in formatting.
[[nodiscard]] std::string token_text(std::string_view source);

}  // namespace regraph
