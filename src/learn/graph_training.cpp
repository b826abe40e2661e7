#include "learn/graph_training.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>

namespace regraph::learn {

namespace {

// Means are rounded to these, so that sums of them do not depend on their order.
constexpr int kVoteBits = 11;  // beyond FixedScore's
constexpr double kVoteUnit = kScoreUnit / (1 << kVoteBits);

// sum / count in units of 2^-22, for a sum in units of 2^-11.
std::int64_t mean_vote(std::int64_t sum, std::int64_t count) {
  return ((sum << kVoteBits) + count / 2) / count;
}

// Tries of one step (after one step, or any), by one device and way of timing.
class Tally {
 public:
  void add(const ObservationRow& row) {
    ++tries_;
    verified_ += row.verified ? 1 : 0;
    sum_log_gain_ += row.verified ? row.gain : 0;
    // The same state may have been tried in several runs; what is best counts once.
    FixedScore& best = best_[row.family][row.kernel][row.parent];
    best = std::max(best, row.verified ? row.gain : 0);
  }

  [[nodiscard]] GainStatistics statistics() const {
    GainStatistics result;
    std::int64_t votes = 0;
    for (const auto& [family, kernels] : best_) {
      std::int64_t sum = 0;
      for (const auto& [kernel, states] : kernels) {
        std::int64_t positive = 0;
        for (const auto& [state, gain] : states)
          positive += gain;
        sum += mean_vote(positive, static_cast<std::int64_t>(states.size()));
        result.observations += static_cast<std::int64_t>(states.size());
      }
      const auto count = static_cast<std::int64_t>(kernels.size());
      votes += (sum + count / 2) / count;
      result.kernels += count;
      ++result.families;
    }
    result.sum_positive = static_cast<double>(votes) * kVoteUnit;
    result.tries = tries_;
    result.verified = verified_;
    result.sum_log_gain = static_cast<double>(sum_log_gain_) * kScoreUnit;
    return result;
  }

 private:
  using States = std::map<std::string, FixedScore>;
  std::map<std::string, std::map<std::string, States>> best_;  // by family, kernel, state
  std::int64_t tries_ = 0;
  std::int64_t verified_ = 0;
  std::int64_t sum_log_gain_ = 0;
};

// By way of timing and device.
using Tallies = std::map<std::pair<std::string, std::string>, Tally>;

LearnedGains learned(const Tallies& tallies) {
  LearnedGains result;
  for (const auto& [source, tally] : tallies) {
    const auto& [method, device] = source;
    const bool measured = method == name(TimeMethod::measured);
    result.by(measured ? TimeMethod::measured : TimeMethod::predicted)[device] = tally.statistics();
  }
  return result;
}

// `row` is one of the step's.
Step candidate_step(const ObservationRow& row) {
  Step step;
  step.id = row.step;
  step.name = row.title.empty() ? row.step : row.title;
  step.what = "A language model named this step and applied it.";
  step.legality = "Not described; every result is verified.";
  step.instruction = row.instruction.empty() ? "Apply: " + step.name + "." : row.instruction;
  step.candidate = true;
  return step;
}

}  // namespace

StepGraph train_graph(const StepGraph& published, const ObservationTable& table) {
  StepGraph graph = published.published();
  std::map<std::string, Tallies> steps;
  std::map<std::string, const ObservationRow*> described;  // a row with words, where there is one
  std::map<std::pair<std::string, std::string>, Tallies> transitions;
  for (const ObservationRow& row : table.rows()) {
    const std::pair source(row.method, row.device);
    steps[row.step][source].add(row);
    const ObservationRow*& words = described[row.step];
    if (words == nullptr || (words->title.empty() && !row.title.empty())) words = &row;
    transitions[{row.from, row.step}][source].add(row);
  }
  for (const auto& [step, tallies] : steps) {
    // A name that the graph cannot hold says nothing to anybody.
    if (graph.find(step) == nullptr && !graph.add_step(candidate_step(*described.at(step))))
      continue;
    static_cast<void>(graph.set_learned(step, learned(tallies)));
  }
  for (const auto& [ends, tallies] : transitions)
    static_cast<void>(graph.set_learned(ends.first, ends.second, learned(tallies)));
  if (table.size() > 0) graph.set_learned_from(table.name());
  return graph;
}

}  // namespace regraph::learn
