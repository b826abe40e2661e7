// A step that may be applied to a candidate, and what others say of it.
#pragma once

#include <map>
#include <string>

namespace regraph {

// Parameter name -> value, as text: {"axis": "x", "factor": "4"}.
using StepParameters = std::map<std::string, std::string>;
// The parameter by which an expander other than the rewriter says that a proposal is its own.
inline constexpr const char* kAppliedBy = "by";

// Two proposals that are no steps of a ReGraph, see combined_steps.h: several steps at once, and
// the changes of two states in one kernel.
inline constexpr const char* kLeap = "leap";
inline constexpr const char* kCombine = "combine";

// What advisers (answers of a language model, say) made of a proposal.
struct StepAdvice {
  // Of `opinions` asked, the share that named this proposal; one that names a step without its
  // values is shared among the step's proposals.
  double named_share = 0.0;
  int opinions = 0;
  std::string reason = {};  // why, in their words; one line, for whoever applies it
  std::string title = {};   // name in words of a step that the ReGraph does not know; else empty
  bool operator==(const StepAdvice&) const = default;
};

// What a learned policy (EdgeScorer) makes of a proposal.
struct PolicyScore {
  double correction = 0.0;         // added to the logit of its prior
  double expected_log_gain = 0.0;  // ln(time before / time after)
  bool operator==(const PolicyScore&) const = default;
};

// One step with its parameters, at one candidate. An expander fills in what is asked for; advice
// and score are added on the way.
struct StepProposal {
  std::string step;  // id in the ReGraph, e.g. "thread_coarsen"
  StepParameters parameters;
  int variant_limit = 1;  // how many different results repeated application may give
  StepAdvice advice = {};
  PolicyScore score = {};

  // "thread_coarsen(axis=x, factor=4)"; unique per (step, parameters).
  [[nodiscard]] std::string text() const;
  bool operator==(const StepProposal&) const = default;
};

}  // namespace regraph
