// What a search found. Plain data for reports, run directories and learning.
#pragma once

#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "kernel/speed_verdict.h"
#include "regraph/expander.h"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// Compares by intervals only. FAST and SLOW: they are separated, the candidate's is below or above.
// SAME: each median lies in the other's interval. AMBIGUOUS: they overlap and yet the medians
// differ.
[[nodiscard]] SpeedVerdict compare_times(const TimeEstimate& candidate,
                                         const TimeEstimate& reference);

// One state the search created and judged.
struct StateRecord {
  std::uint32_t id = 0;                 // 0 is the original
  std::optional<std::uint32_t> parent;  // the state it was first made from
  // A second one: of a state in which the changes of two were put together.
  std::optional<std::uint32_t> other_parent;
  StepProposal step;  // applied to the parent; empty for the original
  int variant = 0;
  std::shared_ptr<const Candidate> candidate;
  Evaluation evaluation;
  double log_speedup = 0.0;              // ln(original time / time); valid when correct
  std::uint64_t visits = 0;              // searches that passed through or ended here
  std::optional<std::uint32_t> same_as;  // an earlier state with the same machine code and plan
  std::vector<StepProposal> proposals;   // what could be done next
};

// One step of the path from the original to the best candidate.
struct PathStep {
  std::uint32_t state = 0;  // that it leads to
  StepProposal step;
  int variant = 0;
  double log_gain = 0.0;  // ln(time before / time after)
};

// An attempt of the search, for statistics and learning: `to` was applied after `from`.
struct AttemptRecord {
  std::uint32_t parent = 0;
  std::optional<std::uint32_t> child;  // none when the step was refused
  std::string from;                    // id of the step that made the parent, or "init"
  StepProposal step;
  int variant = 0;
  bool verified = false;
  double log_gain = 0.0;  // valid when verified
  // It led where another step of the same parent leads, or back to where the search had come from.
  bool repeats = false;
  std::string reason;  // why not verified, e.g. "refused" or "wrong_result"
};

// A step that the ReGraph does not know: somebody made it up in this run.
struct NewStepRecord {
  std::string id;
  std::string title;   // its name in words
  std::string reason;  // what it takes, in the words of the first who named it
  int proposed = 0;    // states at which it was proposed
  int tries = 0;       // applications, those that were declined aside
  int verified = 0;
  double best_log_gain = 0.0;  // of the verified ones
};

struct FinalistRecord {
  std::uint32_t state = 0;
  Evaluation evaluation;  // the last confirmation, times pooled over the rounds
  bool dropped = false;   // failed its confirmation, or was objected to
  int rounds = 0;
  std::string objection;  // of the run's caller; empty: none
};

enum class StopReason : std::uint8_t {
  budget,     // evaluations or seconds are used up
  exhausted,  // every step was tried everywhere
  cancelled,
  workers_lost,  // too many calls never returned
};
[[nodiscard]] const char* name(StopReason reason);

// What workers that would have idled did before the search asked for it, see ahead_work.h.
struct WorkAhead {
  int expansions = 0;        // steps applied ahead
  int expansions_used = 0;   // of those, asked for later
  int evaluations = 0;       // candidates that were begun to be evaluated ahead
  int evaluations_used = 0;  // of those, asked for later; the rest was in vain
  // Of all workers together.
  double used_seconds = 0.0;
  double vain_seconds = 0.0;
  [[nodiscard]] int in_vain() const { return evaluations - evaluations_used; }
};

struct SearchOutcome {
  Candidate best;              // the original when nothing was shown to be faster
  Evaluation best_evaluation;  // from the confirmation if there was one
  std::uint32_t best_state = 0;
  Evaluation baseline_evaluation;
  bool confirmed = false;  // best passed again with fresh inputs; false for the original and when
                           // cancellation left no time for it
  SpeedVerdict verdict = SpeedVerdict::same;
  double log_speedup = 0.0;  // ln(baseline median / best median), 0 for the original
  std::vector<PathStep> path;

  std::array<int, kVerdictCount> verdict_counts{};  // of the search's evaluations, by Verdict
  std::map<std::string, int> failures;              // by reason: verdict names and "refused"
  int evaluations = 0;     // given to the evaluator by the search, baseline and finals aside
  int expansions = 0;      // steps applied or refused
  int transpositions = 0;  // expansions whose result was known already: nothing compiled or run
  int machine_code_merges = 0;  // evaluated states that turned out to be known machine code
  int duplicates = 0;           // edges to a state that the same parent leads to already
  int back_edges = 0;           // edges to an ancestor
  int nodes = 0;
  int lost_workers = 0;  // evaluations written off because they outlived their deadline
  double wall_seconds = 0.0;
  // Seconds that workers worked, of all together and in this sitting: over the sitting's seconds,
  // the processors that were busy.
  double busy_seconds = 0.0;
  double sitting_seconds = 0.0;
  WorkAhead work_ahead;
  StopReason stopped = StopReason::budget;
  std::vector<StateRecord> states;
  std::vector<AttemptRecord> attempts;
  std::vector<FinalistRecord> finalists;
  std::vector<NewStepRecord> new_steps;  // in the order they were first proposed

  // Whether `best` is claimed to be faster than the original: shown to be, beyond the noise of what
  // it was judged by. Otherwise `best` is the original.
  [[nodiscard]] bool improved() const { return verdict == SpeedVerdict::fast; }
  // Whether `best` passed verification; the original counts, as it is the reference.
  [[nodiscard]] bool verified() const { return !improved() || confirmed; }
  // Workers that were busy on average while the search ran, this sitting.
  [[nodiscard]] double busy_workers() const {
    return sitting_seconds > 0.0 ? busy_seconds / sitting_seconds : 0.0;
  }

  // What was found does not bear the claim out: the answer is the original, state 0.
  void withdraw_claim(const StateRecord& original, SpeedVerdict found);
};

// A claim is made (SearchOutcome::improved); what counts of the run is not filled in yet. Returns
// why it does not stand, in words; nothing when it does.
using Objection = std::function<std::optional<std::string>(const SearchOutcome& claimed)>;

}  // namespace regraph
