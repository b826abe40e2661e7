// How a candidate was come by, and what else the search knows, told to expanders that ask for it
// (Expander::wants_story): language models above all.
#pragma once

#include "kernel/candidate.h"
#include "regraph/step_proposal.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

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

struct SearchStory {
  std::vector<DoneStep> path;    // the steps from the original to the candidate, in order
  std::vector<TriedStep> tried;  // the latest last; those at the candidate after the others
  double best_seconds = 0.0;     // median time of the fastest state so far; 0: not known
  // For propose: what it could be combined with. For apply: the one that the proposal names.
  std::vector<OtherState> others;
  std::vector<StepProposal> new_steps;  // that somebody made up in this run, each once
  // For apply: of the step at this candidate, the latest last.
  std::vector<FailedVariant> failures;
  // For apply: of this edge of the ReGraph (the step after the one before), elsewhere: what paid
  // most in this search, else what the ReGraph shows (graph_example.h).
  std::optional<StepExample> example;
};

}  // namespace regraph
