// What a search learns of steps and settings while it runs: how far their gains were from what the
// ReGraph, or the policy, expected of them on this very kernel.
//
//   e_i      residual of try i: log-gain (limited) minus the expected one
//   r(s)     = sum over tries of step s of (e_i - m) / (n + 4)        m: mean of all e_i so far
//   r(s, p)  = sum over tries with setting p of (e_i - m - r(s)) / (n + 2)
//   shift    = ln(max(G + r(s) + r(s, p), f) / max(G, f)), within +-1.5
//
// G is the expected log-gain and f the floor of a score (regraph/priors.cpp), so a prior becomes
// what it would be if the graph had expected G + r. Subtracting m keeps expectations that are too
// high for all steps from counting against those that were tried. It depends on what was committed
// alone, so a search that is done again learns the same.
#pragma once

#include "regraph/expander.h"

#include <map>
#include <string>

namespace regraph {

class RunExperience {
 public:
  // A try of `step` came to `log_gain`, or to nothing (a failure counts as a loss of a half).
  void observe(const StepProposal& step, double log_gain, double expected);
  void observe_failure(const StepProposal& step, double expected);
  // What to add to the logit of a proposal of which `expected` is expected. 0 before any try.
  [[nodiscard]] double shift(const StepProposal& step, double expected) const;

 private:
  struct Sum {
    double residuals = 0.0;
    int tries = 0;
    // Shrunk mean of the residuals beyond `offset`, worth `weight` tries of nothing.
    [[nodiscard]] double beyond(double offset, double weight) const {
      return (residuals - tries * offset) / (tries + weight);
    }
  };

  Sum all_;
  std::map<std::string, Sum> by_step_;
  std::map<std::string, Sum> by_setting_;  // by StepProposal::text()
};

}  // namespace regraph
