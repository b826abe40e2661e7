// The seam between the search and whatever rewrites kernels (the AST rewriter, a language model).
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"

#include <map>
#include <string>
#include <vector>

namespace regraph {

// Parameter name -> value, as text: {"axis": "x", "factor": "4"}.
using StepParameters = std::map<std::string, std::string>;

struct StepProposal {
  std::string step;  // id in the ReGraph, e.g. "thread_coarsen"
  StepParameters parameters;
  int variant_limit = 1;  // how many different results repeated application may give

  // "thread_coarsen(axis=x, factor=4)"; unique per (step, parameters).
  [[nodiscard]] std::string text() const;
  bool operator==(const StepProposal&) const = default;
};

// Applies one step to one candidate. Called from worker threads, several calls at once; must be
// thread-safe. Must be deterministic in its inputs unless variant_limit > 1.
class Expander {
 public:
  virtual ~Expander() = default;
  // Returns the applicable steps in a stable order. `evaluation` is the candidate's own.
  [[nodiscard]] virtual std::vector<StepProposal> propose(const Candidate& candidate,
                                                          const Evaluation& evaluation) const = 0;
  // Returns the rewritten candidate, or ErrorCode::refused with a reason a person can act on.
  // `variant` is 0-based and below variant_limit.
  [[nodiscard]] virtual Result<Candidate> apply(const Candidate& candidate,
                                                const StepProposal& proposal, int variant,
                                                const Cancellation& cancellation) const = 0;
  // Gives a candidate of a proposal with variant_limit > 1, read back from storage, the form that
  // apply would have attached. Other candidates are restored by applying their steps again. The
  // default attaches nothing.
  [[nodiscard]] virtual Result<Candidate> restore(const Candidate& stored) const { return stored; }
};

}  // namespace regraph
