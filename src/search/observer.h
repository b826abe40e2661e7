// Progress of a search, for terminals and journals.
#pragma once

#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/expander.h"

#include <array>
#include <cstdint>

namespace regraph {

// One committed evaluation and where the search stands after it. References live during the call.
struct SearchEvent {
  std::uint32_t state = 0;  // 0: the baseline
  std::uint32_t parent = 0;
  const StepProposal& step;
  int variant = 0;
  const Candidate& candidate;
  const Evaluation& evaluation;
  double log_speedup = 0.0;  // of this candidate; valid when correct
  bool improved = false;     // it is the best so far

  std::uint32_t best_state = 0;
  double best_log_speedup = 0.0;
  int evaluations = 0;
  const std::array<int, kVerdictCount>& verdict_counts;
  int transpositions = 0;
  double budget_fraction = 0.0;  // 0 to 1
  bool recalled = false;         // from a journal: evaluated in an earlier sitting
};

// Called on the thread that runs the search; must not block for long.
class SearchObserver {
 public:
  virtual ~SearchObserver() = default;
  // After every evaluation that the search commits, the baseline's first.
  virtual void on_evaluated(const SearchEvent& event) = 0;
  // Before the finalists are confirmed.
  virtual void on_final_selection(int finalists) { static_cast<void>(finalists); }
};

}  // namespace regraph
