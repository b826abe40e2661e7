// The seam between the search and whatever rewrites kernels (the AST rewriter, a language model).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// Parameter name -> value, as text: {"axis": "x", "factor": "4"}.
using StepParameters = std::map<std::string, std::string>;
// The parameter by which an expander other than the rewriter says that a proposal is its own.
inline constexpr const char* kAppliedBy = "by";

// Two proposals that are no steps of a ReGraph, see combined_steps.h: several steps at once, and
// the changes of two states in one kernel.
inline constexpr const char* kLeap = "leap";
inline constexpr const char* kCombine = "combine";

struct StepProposal {
  std::string step;  // id in the ReGraph, e.g. "thread_coarsen"
  StepParameters parameters;
  int variant_limit = 1;  // how many different results repeated application may give
  // Of `opinions` asked (answers of a language model, say), the share that named this proposal;
  // one that names a step without its values is shared among the step's proposals.
  double named_share = 0.0;
  int opinions = 0;
  // What a policy makes of it (EdgeScorer): added to the logit of its prior, and the log-gain that
  // it expects.
  double correction = 0.0;
  double expected_log_gain = 0.0;
  // Why, in the words of whoever named it; one line, for whoever applies it.
  std::string reason = {};
  // Name in words of a step that the ReGraph does not know; empty for others.
  std::string title = {};

  // "thread_coarsen(axis=x, factor=4)"; unique per (step, parameters).
  [[nodiscard]] std::string text() const;
  bool operator==(const StepProposal&) const = default;
};

// A variant of a step at the same candidate that came to nothing.
struct FailedVariant {
  int variant = 0;
  std::string reason;   // a verdict's name, or an error's, e.g. "refused"
  std::string message;  // the evaluator's or the expander's
};

// A pair of verified candidates that one application of a step lies between. Of one that another
// search found (TransitionExample) the sources alone are known.
struct StepExample {
  std::string from;  // the step applied right before, "init" for none
  std::shared_ptr<const Candidate> before;
  std::shared_ptr<const Candidate> after;
  double log_gain = 0.0;    // ln(time before / time after)
  std::string kernel = {};  // name of another kernel that it was found on; empty: this one
};

// A step on the way from the original to a candidate.
struct DoneStep {
  StepProposal step;
  double seconds_before = 0.0;  // median time of what it was applied to
};

// A step that was tried at a candidate or at one on the way to it, and did not become the way.
struct TriedStep {
  StepProposal step;
  int steps_back = 0;  // 0: at the candidate itself, 1: at the one before it, ...
  bool verified = false;
  double log_gain = 0.0;  // valid when verified: ln(time before / time after)
  std::string reason;     // why not verified: a verdict's name, or an error's
  std::string message;    // the same in words
};

// A state that went another way from an ancestor of the candidate.
struct OtherState {
  std::uint32_t state = 0;
  std::shared_ptr<const Candidate> candidate;
  std::vector<StepProposal> steps;   // from the common ancestor to it
  double log_gain = 0.0;             // ln(time of the common ancestor / its time)
  double common_seconds = 0.0;       // median time of the common ancestor
  std::vector<StepProposal> shared;  // from the original to the common ancestor
};

// What the search knows when it asks for something. It depends on what was committed by then, so it
// is the same in every run of the same search.
struct ExpansionContext {
  Evaluation evaluation;                // the candidate's own, correct
  std::vector<std::string> history;     // ids of the steps from the original to the candidate
  double original_seconds = 0.0;        // median time of the original; 0 when not known yet
  std::vector<FailedVariant> failures;  // of the step at this candidate, the latest last
  // Of this edge of the ReGraph (the step after the one before), elsewhere: what paid most in this
  // search, else what the ReGraph shows (graph_example.h).
  std::optional<StepExample> example;
  double best_seconds = 0.0;          // median time of the fastest state so far; 0: not known
  std::vector<DoneStep> path = {};    // as `history`, with what came of each
  std::vector<TriedStep> tried = {};  // the latest last; those at the candidate after the others
  // For propose: what it could be combined with. For apply: the one that the proposal names.
  std::vector<OtherState> others = {};
  std::vector<StepProposal> new_steps = {};  // that somebody made up in this run, each once
};

// Applies one step to one candidate. Called from worker threads, several calls at once; must be
// thread-safe. Must be deterministic in its inputs where it says so by repeatable().
class Expander {
 public:
  virtual ~Expander() = default;
  // Returns the applicable steps in a stable order; of `context` failures and example are not set.
  [[nodiscard]] virtual std::vector<StepProposal> propose(
      const Candidate& candidate, const ExpansionContext& context,
      const Cancellation& cancellation) const = 0;
  // As propose, after others: `proposals` holds theirs, which may decide what is worth adding and
  // may be given an opinion (StepProposal::named_share). The default adds what propose returns.
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
  // Whether it wants to be told how a candidate was come by: path, tried, others and new_steps of
  // the context, which take time to put together.
  [[nodiscard]] virtual bool wants_story() const { return false; }
  // Gives a candidate of a proposal that is not repeatable, read back from storage, the form that
  // apply would have attached. Other candidates are restored by applying their steps again. The
  // default attaches nothing.
  [[nodiscard]] virtual Result<Candidate> restore(const Candidate& stored) const { return stored; }
  // How long a call of apply or propose may last; 0: no longer than an evaluation.
  [[nodiscard]] virtual double longest_seconds() const { return 0.0; }
};

}  // namespace regraph
