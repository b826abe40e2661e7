// Prompts as a search would send them, and answers as they should come back.
#pragma once

#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/expander.h"
#include "session/session.h"
#include "session/session_error.h"

#include <filesystem>
#include <memory>
#include <string>

namespace regraph::dataset {

struct Prompt {
  std::string system;
  std::string user;
};

// Of one session, which must outlive it. Not thread-safe.
class PromptMaker {
 public:
  // `prompts`: a folder as of --llm-prompts; empty: the shipped one. Errors: usage, internal.
  [[nodiscard]] static Result<PromptMaker, SessionError> make(const Session& session,
                                                              const std::filesystem::path& prompts);

  // Asks for the step at the candidate, with the values that it has; values that it has not are the
  // answer's to choose. `evaluation` is the candidate's, without a verdict where it was not judged:
  // then the prompt gives no time.
  [[nodiscard]] Prompt apply(const Candidate& candidate, const Evaluation& evaluation,
                             const StepProposal& step) const;
  // Asks which steps to try.
  [[nodiscard]] Prompt choose(const Candidate& candidate, const Evaluation& evaluation) const;

 private:
  PromptMaker() = default;
  std::shared_ptr<const SessionExpander> expander_;
};

// The answer that makes `child` of `parent`: a block of code, and one with the launch where that
// changed. `kernel` is the one to optimise.
[[nodiscard]] std::string answer_for(const Candidate& parent, const Candidate& child,
                                     const std::string& kernel);
// The answer to `choose` that names this step.
[[nodiscard]] std::string choice_of(const StepProposal& step);

}  // namespace regraph::dataset
