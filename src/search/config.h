// Everything that decides what a search does. Two runs with equal configurations and equal results
// of their evaluations are equal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace regraph {

// When to stop. At least one limit must be set.
struct SearchBudget {
  // Candidates given to the evaluator, the baseline aside; 0: no limit. Applications of steps that
  // are not repeatable (Expander) count too when they leave nothing to evaluate: somebody was
  // asked.
  int evaluations = 200;
  double wall_seconds = 0.0;  // 0: no limit
};

// The rule published for ReGraphT. The paper gives the exploration constant; the others are those
// of an independent re-implementation of it.
struct ReGraphTConfig {
  double exploration = 2.0;  // c in Q(s) + sqrt(c ln N(s') / N(s))
  double epsilon = 0.1;      // share of rollout steps drawn at random
  double penalty = 0.5;      // lambda in the rollout's Q(s,a) - lambda N(s,a)
  int rollout_steps = 4;     // after the step that selection ended with
};

// Backup and selection. Defaults: what found most in what searches of the training corpus had tried
// (docs/search.md, Constants).
struct SelectionConfig {
  double max_share = 1.0;          // lambda in Q = (1 - lambda) * mean + lambda * best
  double exploration_first = 0.5;  // c at the start of the budget
  double exploration_last = 0.1;   // c at its end
  double first_play_reduction = 0.0;
  double variant_decay = 0.5;      // gamma: prior of the next variant over that of this one
  int variant_limit = 4;           // variants of one proposal at one state
  double widening_factor = 4.0;    // k and a of: untried edges while opened < k * (N + O)^a;
  double widening_exponent = 0.5;  // k = 0 switches the guard off
  // Scores that map to 0 and 1. None: from the scores seen, see Selector.
  std::optional<std::pair<double, double>> value_range;
  // Value of an untried edge, 0 to 1. None: the node's own value less the reduction above.
  std::optional<double> first_play_value;
  // Every so many expansions one is chosen by the greedy rule on the same graph; 0: none. Half of
  // the budget spent so finds early what greedy finds, and what greedy never comes to is found
  // still.
  int greedy_every = 2;
  // The baselines.
  int beam_width = 2;           // states kept of a level, see make_beam_policy
  double random_restart = 0.1;  // chance that a random walk goes back to the original
  ReGraphTConfig regrapht;
};

struct SearchConfig {
  std::string searcher = "mcgs";  // see make_searcher
  std::uint64_t seed = 0;         // of verification inputs and of searchers that draw lots
  SearchBudget budget;
  SelectionConfig selection;
  int jobs = 1;           // workers; changes how long a search takes, never what it finds
  int extra_workers = 0;  // beyond `jobs`: for calls that mostly wait for somebody else
  // Workers that would idle evaluate what the search is likely to ask for next; changes how long a
  // search takes, never what it finds. Only where Evaluator::may_work_ahead().
  bool work_ahead = true;
  int window = 4;  // most expansions and measurements under way at once
  // Commit outstanding expansions before measurements; false: by ticket number alone, which is
  // better when an expansion takes as long as an evaluation. Either order is independent of timing.
  bool expansions_first = true;
  int finalists = 8;                       // re-measured at the end
  int final_repetitions = 64;              // samples a finalist that survives every round gets
  double evaluation_wall_seconds = 180.0;  // per evaluation
  bool learn = false;        // priors follow what this very search finds out, see run_experience.h
  std::string policy;        // the EdgeScorer's description; empty: none
  std::string device;        // key of the ReGraph's statistics
  std::string device_table;  // the device's numbers as YAML; empty: they are built in
  std::string evaluator = "model";  // what judges candidates: a run goes on with the same
  std::string expander_settings;    // of whoever applies steps, as text of its own making
  // The user's own test of the answer; none of it changes what is found.
  std::string check_command;     // for sh -c; empty: there is none
  std::string check_directory;   // that it is typed in
  double check_seconds = 600.0;  // that it may take
};

}  // namespace regraph
