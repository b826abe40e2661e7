// The seam between the search and whatever rewrites kernels (the AST rewriter, a language model).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/search_story.h"
#include "regraph/step_proposal.h"

#include <string>
#include <vector>

namespace regraph {

// What the search knows when it asks for something. It depends on what was committed by then, so it
// is the same in every run of the same search.
struct ExpansionContext {
  Evaluation evaluation;             // the candidate's own, correct
  std::vector<std::string> history;  // ids of the steps from the original to the candidate
  double original_seconds = 0.0;     // median time of the original; 0 when not known yet
  SearchStory story = {};            // empty unless the expander wants_story()
};

// Applies one step to one candidate. Called from worker threads, several calls at once; must be
// thread-safe. Must be deterministic in its inputs where it says so by repeatable().
class Expander {
 public:
  virtual ~Expander() = default;
  // Returns the applicable steps in a stable order; of a story failures and example are not set.
  [[nodiscard]] virtual std::vector<StepProposal> propose(
      const Candidate& candidate, const ExpansionContext& context,
      const Cancellation& cancellation) const = 0;
  // As propose, after others: `proposals` holds theirs, which may decide what is worth adding and
  // may be given advice (StepAdvice). The default adds what propose returns.
  virtual void add_proposals(const Candidate& candidate, const ExpansionContext& context,
                             std::vector<StepProposal>& proposals,
                             const Cancellation& cancellation) const;
  // Whether a proposal is one of its own. An expander that works alone owns them all.
  [[nodiscard]] virtual bool owns(const StepProposal& proposal) const {
    (void)proposal;
    return true;
  }
  // Returns the rewritten candidate, or an error with a reason a person can act on
  // (ErrorCode::refused where the step does not apply; declined where somebody who was asked says
  // so, which costs the search nothing). `variant` is 0-based and below variant_limit.
  [[nodiscard]] virtual Result<Candidate> apply(const Candidate& candidate,
                                                const StepProposal& proposal, int variant,
                                                const ExpansionContext& context,
                                                const Cancellation& cancellation) const = 0;
  // Whether applying the proposal again gives the same, whatever the context, and costs nobody
  // anything: the search may then do it although nothing may come of it.
  [[nodiscard]] virtual bool repeatable(const StepProposal& proposal) const {
    return proposal.variant_limit <= 1;
  }
  // The same of propose.
  [[nodiscard]] virtual bool proposes_freely() const { return true; }
  // Whether it wants the context's story, which takes time to put together.
  [[nodiscard]] virtual bool wants_story() const { return false; }
  // Gives a candidate of a proposal that is not repeatable, read back from storage, the form that
  // apply would have attached. Other candidates are restored by applying their steps again. The
  // default attaches nothing.
  [[nodiscard]] virtual Result<Candidate> restore(const Candidate& stored) const { return stored; }
  // How long a call of apply or propose may last; 0: no longer than an evaluation.
  [[nodiscard]] virtual double longest_seconds() const { return 0.0; }
};

}  // namespace regraph
