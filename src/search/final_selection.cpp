#include "search/final_selection.h"

#include "base/random.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace regraph {

namespace {

// Mixed into seeds, so that finalists are verified with inputs that no search evaluation used.
constexpr std::uint64_t kConfirmationPurpose = 0xF17A1;

// Times of one state over the rounds.
class PooledTime {
 public:
  // Pools by sample count. Bounds are averaged, not narrowed: samples of different rounds share
  // their clock, temperature and neighbours, so they are not independent.
  void add(const TimeEstimate& time) {
    const int samples = std::max(time.samples, 1);
    const double share = static_cast<double>(samples) / (samples_ + samples);
    pooled_.median_seconds += share * (time.median_seconds - pooled_.median_seconds);
    pooled_.low_seconds += share * (time.low_seconds - pooled_.low_seconds);
    pooled_.high_seconds += share * (time.high_seconds - pooled_.high_seconds);
    pooled_.method = time.method;
    samples_ += samples;
    pooled_.samples = samples_;
  }
  [[nodiscard]] bool empty() const { return samples_ == 0; }
  [[nodiscard]] const TimeEstimate& estimate() const { return pooled_; }

 private:
  TimeEstimate pooled_;
  int samples_ = 0;
};

struct Contender {
  std::size_t place = 0;  // among the finalists
  int steps = 0;
  PooledTime time;
  double log_speedup = 0;  // pooled over rounds, each against the original of that round
};

void claim_if_separated(FinalSelection& selection, const FinalistRecord& best) {
  selection.verdict = compare_times(best.evaluation.time, selection.baseline_evaluation.time);
  if (selection.verdict != SpeedVerdict::fast) return;
  selection.winner = best.state;
  selection.confirmed = best.rounds > 0;
  selection.winner_evaluation = best.evaluation;
}

EvaluationBudget confirmation(const FinalSelectionConfig& config, int round, int repetitions) {
  EvaluationBudget budget;
  budget.effort = EvaluationBudget::Effort::confirmation;
  budget.seed = random_bits(config.seed, kConfirmationPurpose, round);
  budget.repetitions = repetitions;
  budget.wall_seconds = config.evaluation_wall_seconds;
  return budget;
}

void verify_in_order(const FinalSelectionConfig& config, const Confirm& confirm,
                     FinalSelection& selection) {
  for (FinalistRecord& record : selection.finalists) {
    std::optional<Evaluation> again = confirm(record.state, confirmation(config, 0, 1));
    if (!again) {
      claim_if_separated(selection, record);
      return;
    }
    record.rounds = 1;
    record.evaluation = std::move(*again);
    record.dropped = !record.evaluation.correct();
    if (record.dropped) continue;
    claim_if_separated(selection, record);
    return;
  }
}

// `steps`: of each finalist.
void halve_sequentially(const FinalSelectionConfig& config, const Confirm& confirm,
                        const std::vector<int>& steps, FinalSelection& selection) {
  std::vector<Contender> contenders(selection.finalists.size());
  for (std::size_t place = 0; place < contenders.size(); ++place) {
    contenders[place].place = place;
    contenders[place].steps = steps[place];
  }
  const int rounds = std::max(1, static_cast<int>(std::bit_width(contenders.size() - 1)));
  const int repetitions = std::max(1, config.repetitions / rounds);
  PooledTime original;

  for (int round = 0; round < rounds; ++round) {
    const EvaluationBudget budget = confirmation(config, round, repetitions);
    const std::optional<Evaluation> anchor = confirm(0, budget);
    if (!anchor || !anchor->correct()) break;
    bool stopped = false;
    original.add(anchor->time);
    for (Contender& contender : contenders) {
      FinalistRecord& record = selection.finalists[contender.place];
      std::optional<Evaluation> again = confirm(record.state, budget);
      if (!again) {
        stopped = true;
        break;
      }
      ++record.rounds;
      record.evaluation = std::move(*again);
      record.dropped = !record.evaluation.correct();
      if (record.dropped) continue;
      const TimeEstimate time = record.evaluation.time;
      contender.time.add(time);
      const double gain = std::log(anchor->time.median_seconds / time.median_seconds);
      contender.log_speedup += (gain - contender.log_speedup) / record.rounds;
      record.evaluation.time = contender.time.estimate();
    }
    std::erase_if(contenders,
                  [&](const Contender& one) { return selection.finalists[one.place].dropped; });
    if (stopped) break;
    std::ranges::stable_sort(contenders, std::greater<>{}, &Contender::log_speedup);
    if (round + 1 < rounds) contenders.resize((contenders.size() + 1) / 2);
    if (contenders.empty()) return;
  }
  if (contenders.empty()) return;
  if (!original.empty()) selection.baseline_evaluation.time = original.estimate();
  // Of those that time does not tell apart the shortest.
  const TimeEstimate& best = selection.finalists[contenders.front().place].evaluation.time;
  std::erase_if(contenders, [&](const Contender& one) {
    const TimeEstimate& time = selection.finalists[one.place].evaluation.time;
    return compare_times(time, best) != SpeedVerdict::same;
  });
  const auto shortest = std::ranges::min_element(contenders, {}, &Contender::steps);
  claim_if_separated(selection, selection.finalists[shortest->place]);
}

}  // namespace

void SearchOutcome::withdraw_claim(const StateRecord& original, SpeedVerdict found) {
  best = *original.candidate;
  best_evaluation = baseline_evaluation;
  best_state = 0;
  confirmed = false;
  verdict = found;
  log_speedup = 0.0;
  path.clear();
}

SpeedVerdict compare_times(const TimeEstimate& candidate, const TimeEstimate& reference) {
  if (candidate.high_seconds < reference.low_seconds) return SpeedVerdict::fast;
  if (candidate.low_seconds > reference.high_seconds) return SpeedVerdict::slow;
  const auto holds = [](const TimeEstimate& interval, double median) {
    return interval.low_seconds <= median && median <= interval.high_seconds;
  };
  const bool agree =
      holds(candidate, reference.median_seconds) && holds(reference, candidate.median_seconds);
  return agree ? SpeedVerdict::same : SpeedVerdict::ambiguous;
}

FinalSelectionConfig final_selection_config(const SearchConfig& config) {
  return {config.seed, config.final_repetitions, config.evaluation_wall_seconds};
}

EvaluationBudget first_look(const SearchConfig& config) {
  EvaluationBudget budget;
  budget.seed = config.seed;
  budget.wall_seconds = config.evaluation_wall_seconds;
  return budget;
}

EvaluationBudget second_look(const SearchConfig& config) {
  return confirmation(final_selection_config(config), 0, 1);
}

FinalSelection select_final(const std::vector<Finalist>& finalists, const Evaluation& baseline,
                            const FinalSelectionConfig& config, const Confirm& confirm) {
  FinalSelection selection;
  selection.baseline_evaluation = baseline;
  for (const Finalist& finalist : finalists) {
    selection.finalists.push_back({finalist.state, finalist.evaluation, false, 0, {}});
  }
  if (finalists.empty()) return selection;
  if (baseline.time.method == TimeMethod::predicted) {
    verify_in_order(config, confirm, selection);
  } else {
    std::vector<int> steps;
    for (const Finalist& finalist : finalists)
      steps.push_back(finalist.steps);
    halve_sequentially(config, confirm, steps, selection);
  }
  return selection;
}

}  // namespace regraph
