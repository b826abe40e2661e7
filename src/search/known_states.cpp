#include "search/known_states.h"

#include "base/result.h"
#include "regraph/combined_steps.h"
#include "regraph/graph_example.h"
#include "regraph/neighbouring_settings.h"

#include <algorithm>
#include <cmath>

namespace regraph {

namespace {

constexpr std::size_t kMostFailures = 3;  // told of a step; more would only lengthen a prompt
constexpr std::size_t kMostTried = 12;    // kept of a state
constexpr std::size_t kMostTold = 16;     // of them, told at one place
// A way must have paid that much, as a log-gain, for its changes to be wanted elsewhere: 5 %, more
// than what the next step is expected to bring by chance.
constexpr double kWorthCombining = 0.0487901641694320;
constexpr std::size_t kMostOthers = 2;  // offered at a state

// What failures are told of: a step with any of its values; but two plans, or combinations with two
// states, have nothing in common.
std::string task_of(const StepProposal& step) {
  return is_combined(step) ? step.text() : step.step;
}

}  // namespace

Hash128 executable_of(const Candidate& candidate, const Evaluation& evaluation) {
  const Hash128& code = evaluation.machine_code;
  if (code == Hash128{}) return {};
  return Hasher().add(code.low).add(code.high).add(candidate.plan.text()).finish();
}

void KnownStates::add_original(const Candidate& original) {
  Known known;
  known.record.candidate = std::make_shared<const Candidate>(original);
  states_.push_back(std::move(known));
}

void KnownStates::add(const Ticket& measure, std::shared_ptr<const Candidate> candidate) {
  Known known;
  known.record.id = measure.node;
  known.record.parent = measure.parent;
  known.record.step = step_of(measure);
  known.record.variant = static_cast<int>(measure.variant);
  known.record.candidate = std::move(candidate);
  states_.push_back(std::move(known));
}

bool KnownStates::judge(std::uint32_t state, Evaluation evaluation,
                        std::vector<StepProposal> proposals) {
  Known& known = states_[state];
  known.record.evaluation = std::move(evaluation);
  known.proposals = std::move(proposals);
  note_new_steps(known.proposals);
  if (state == 0 || !known.record.evaluation.correct()) return false;
  known.record.log_speedup =
      std::log(original_seconds() / known.record.evaluation.time.median_seconds);
  if (known.record.log_speedup <= best_log_speedup_) return false;
  best_log_speedup_ = known.record.log_speedup;
  best_ = state;
  return true;
}

GainSource KnownStates::gain_source() const {
  return {config_.device, states_.front().record.evaluation.time.method};
}

double KnownStates::expected_gain(const std::vector<std::string>& history, const Facts& facts,
                                  const StepProposal& step) const {
  if (!config_.policy.empty()) return step.score.expected_log_gain;
  return graph_
      .expectation(step.step, !step.parameters.contains(kAppliedBy), history, facts, gain_source())
      .log_gain;
}

// Without `learn` only how leaps and combinations fare beside single steps, of whoever is asked for
// them: no statistics of other kernels can tell.
std::optional<StepProposal> KnownStates::learned_as(const StepProposal& step) const {
  if (config_.learn) return step;
  if (!step.parameters.contains(kAppliedBy)) return std::nullopt;
  StepProposal kind;
  kind.step = is_combined(step) ? step.step : "single";
  return kind;
}

void KnownStates::observe(const std::vector<std::string>& history, const Facts& facts,
                          const StepProposal& step, std::optional<double> log_gain,
                          RunExperience& experience) const {
  const std::optional<StepProposal> learned = learned_as(step);
  if (!learned) return;
  const double expected = expected_gain(history, facts, step);
  if (log_gain) {
    experience.observe(*learned, *log_gain, expected);
  } else {
    experience.observe_failure(*learned, expected);
  }
}

void KnownStates::note_new_steps(const std::vector<StepProposal>& proposals) {
  for (const StepProposal& proposal : proposals) {
    if (proposal.advice.title.empty()) continue;
    auto known = std::ranges::find(new_steps_, proposal.step, &NewStepRecord::id);
    if (known == new_steps_.end())
      known =
          new_steps_.insert(known, {proposal.step, proposal.advice.title, proposal.advice.reason});
    ++known->proposed;
  }
}

void KnownStates::count_new_step(const AttemptRecord& attempt) {
  const auto known = std::ranges::find(new_steps_, attempt.step.step, &NewStepRecord::id);
  if (known == new_steps_.end()) return;
  ++known->tries;
  if (!attempt.verified) return;
  ++known->verified;
  known->best_log_gain =
      known->verified == 1 ? attempt.log_gain : std::max(known->best_log_gain, attempt.log_gain);
}

void KnownStates::learn(const AttemptRecord& attempt, std::string message, bool keep_failures) {
  auto& tried = states_[attempt.parent].tried;
  tried.emplace_back(attempt.child, TriedStep{attempt.step, 0, attempt.verified, attempt.log_gain,
                                              attempt.reason, message});
  if (tried.size() > kMostTried) tried.erase(tried.begin());
  // One that was declined was not tried, so it says nothing about the step.
  const bool declined = attempt.reason == name(ErrorCode::declined);
  if (!declined) {
    count_new_step(attempt);
    observe(history(attempt.parent), at(attempt.parent).evaluation.facts, attempt.step,
            attempt.verified ? std::optional(attempt.log_gain) : std::nullopt, experience_);
  }
  if (!attempt.verified) {
    if (!keep_failures) return;
    auto& failures = states_[attempt.parent].failures[task_of(attempt.step)];
    failures.push_back({attempt.variant, attempt.reason, std::move(message)});
    if (failures.size() > kMostFailures) failures.erase(failures.begin());
    return;
  }
  if (!attempt.child || attempt.log_gain <= 0.0) return;
  // Two, because an example for a state is taken from another one.
  std::vector<PaidStep>& best = paid_[{attempt.from, attempt.step.step}];
  const auto known = std::ranges::find(best, attempt.parent, &PaidStep::parent);
  if (known == best.end()) {
    best.push_back({attempt.parent, *attempt.child, attempt.log_gain});
  } else if (attempt.log_gain > known->log_gain) {
    *known = {attempt.parent, *attempt.child, attempt.log_gain};
  }
  std::ranges::stable_sort(best, std::ranges::greater(), &PaidStep::log_gain);
  if (best.size() > 2) best.pop_back();
}

std::vector<std::uint32_t> KnownStates::path_to(std::uint32_t state) const {
  std::vector<std::uint32_t> result;
  for (std::uint32_t one = state; at(one).parent; one = *at(one).parent)
    result.push_back(one);
  std::ranges::reverse(result);
  return result;
}

std::vector<std::string> KnownStates::history(std::uint32_t state) const {
  std::vector<std::string> result;
  for (const std::uint32_t id : path_to(state)) {
    for (std::string& step : steps_of(at(id).step))
      result.push_back(std::move(step));
  }
  return result;
}

std::vector<EdgeSeed> KnownStates::seeds(const std::vector<std::string>& history,
                                         const Facts& facts,
                                         const std::vector<StepProposal>& proposals,
                                         const RunExperience& experience,
                                         StepNumbers& numbers) const {
  std::vector<double> shifts;
  const auto asked = [](const StepProposal& step) { return step.parameters.contains(kAppliedBy); };
  if (config_.learn || std::ranges::any_of(proposals, asked)) {
    std::map<std::string_view, double> expected;
    for (const StepProposal& proposal : proposals) {
      const std::optional<StepProposal> learned = learned_as(proposal);
      if (!learned) {
        shifts.push_back(0.0);
        continue;
      }
      auto known = expected.find(proposal.step);
      if (known == expected.end() || !config_.policy.empty()) {
        known =
            expected.insert_or_assign(proposal.step, expected_gain(history, facts, proposal)).first;
      }
      shifts.push_back(experience.shift(*learned, known->second));
    }
  }
  std::vector<double> priors = graph_.priors(history, facts, gain_source(), proposals, shifts);
  spread_over_settings(proposals, priors);
  std::vector<EdgeSeed> result;
  for (std::size_t index = 0; index < proposals.size(); ++index) {
    const int variants =
        std::clamp(proposals[index].variant_limit, 1, std::max(config_.selection.variant_limit, 1));
    result.push_back({priors[index], variants, numbers.of(proposals[index].step)});
  }
  return result;
}

ExpansionContext KnownStates::context_of(std::uint32_t state, const StepProposal& step,
                                         bool story) const {
  ExpansionContext context = context_at(state, story);
  context.evaluation = at(state).evaluation;
  if (!story) return context;
  context.story.others.clear();
  if (const auto other = state_to_combine(step)) {
    if (auto found = other_state(state, *other)) context.story.others.push_back(std::move(*found));
  }
  const auto& failures = states_[state].failures;
  if (const auto known = failures.find(task_of(step)); known != failures.end())
    context.story.failures = known->second;
  const std::string from =
      context.history.empty() ? std::string(StepGraph::kInit) : context.history.back();
  context.story.example = example_for(state, from, step.step);
  return context;
}

ExpansionContext KnownStates::context_at(std::uint32_t state, bool story) const {
  ExpansionContext context;
  context.history = history(state);
  context.original_seconds = original_seconds();
  if (!story) return context;
  context.story.best_seconds = at(best()).evaluation.time.median_seconds;
  for (const std::uint32_t id : path_to(state)) {
    const Evaluation& before = at(*at(id).parent).evaluation;
    context.story.path.push_back({at(id).step, before.time.median_seconds});
  }
  context.story.tried = tried_near(state);
  context.story.others = others_for(state);
  for (const NewStepRecord& step : new_steps_) {
    StepProposal proposal;
    proposal.step = step.id;
    proposal.advice.title = step.title;
    proposal.advice.reason = step.reason;
    context.story.new_steps.push_back(std::move(proposal));
  }
  return context;
}

std::vector<TriedStep> KnownStates::tried_near(std::uint32_t state) const {
  std::vector<std::uint32_t> way = path_to(state);
  way.insert(way.begin(), 0);
  std::vector<TriedStep> result;
  for (std::size_t place = 0; place < way.size(); ++place) {
    const bool here = place + 1 == way.size();
    for (const auto& [child, tried] : states_[way[place]].tried) {
      if (!here && child == way[place + 1]) continue;
      result.push_back(tried);
      result.back().steps_back = static_cast<int>(way.size() - 1 - place);
    }
  }
  // What is nearest says most.
  if (result.size() > kMostTold)
    result.erase(result.begin(), result.end() - static_cast<std::ptrdiff_t>(kMostTold));
  return result;
}

std::optional<OtherState> KnownStates::other_state(std::uint32_t state, std::uint32_t other) const {
  if (state >= count() || other >= count() || !at(other).evaluation.correct() ||
      at(other).same_as) {
    return std::nullopt;
  }
  const std::vector<std::uint32_t> own = path_to(state);
  const std::vector<std::uint32_t> way = path_to(other);
  std::size_t shared = 0;
  while (shared < own.size() && shared < way.size() && own[shared] == way[shared])
    ++shared;
  // One lies on the way to the other.
  if (shared == own.size() || shared == way.size()) return std::nullopt;
  const std::uint32_t common = shared == 0 ? 0 : way[shared - 1];
  OtherState result;
  result.state = other;
  result.candidate = at(other).candidate;
  result.common_seconds = at(common).evaluation.time.median_seconds;
  result.log_gain = at(other).log_speedup - at(common).log_speedup;
  for (std::size_t place = 0; place < way.size(); ++place)
    (place < shared ? result.shared : result.steps).push_back(at(way[place]).step);
  const auto did = [&](const StepProposal& step) {
    return std::any_of(own.begin() + static_cast<std::ptrdiff_t>(shared), own.end(),
                       [&](std::uint32_t id) { return at(id).step.text() == step.text(); });
  };
  const bool nothing_new = std::ranges::all_of(result.steps, did);
  if (nothing_new || result.log_gain < kWorthCombining) return std::nullopt;
  return result;
}

std::vector<OtherState> KnownStates::others_for(std::uint32_t state) const {
  std::vector<OtherState> result;
  for (std::uint32_t other = 1; other < count(); ++other) {
    if (other == state) continue;
    if (auto found = other_state(state, other)) result.push_back(std::move(*found));
  }
  // The fastest states first, whatever they started from; of equal ones the older.
  std::ranges::stable_sort(result, std::ranges::greater(),
                           [&](const OtherState& one) { return at(one.state).log_speedup; });
  if (result.size() > kMostOthers) result.resize(kMostOthers);
  return result;
}

std::optional<StepExample> KnownStates::example_for(std::uint32_t state, const std::string& from,
                                                    const std::string& step) const {
  if (const auto paid = paid_.find({from, step}); paid != paid_.end()) {
    for (const PaidStep& one : paid->second) {
      if (one.parent == state) continue;
      return StepExample{from, at(one.parent).candidate, at(one.child).candidate, one.log_gain};
    }
  }
  const ExampleReader reader{*at(0).candidate, *at(state).candidate, config_.device};
  return graph_example(graph_, from, step, reader);
}

double KnownStates::measured_over_predicted(std::uint32_t state) const {
  for (std::optional<std::uint32_t> on_way = state; on_way; on_way = at(*on_way).parent) {
    const Evaluation& evaluation = at(*on_way).evaluation;
    if (!evaluation.correct() || evaluation.time.method != TimeMethod::measured) continue;
    const auto predicted = evaluation.facts.find("predicted_seconds");
    if (predicted != evaluation.facts.end() && predicted->second > 0.0)
      return evaluation.time.median_seconds / predicted->second;
  }
  return 0.0;
}

std::vector<StateRecord> KnownStates::take() {
  std::vector<StateRecord> records;
  for (Known& known : states_) {
    known.record.proposals = std::move(known.proposals);
    records.push_back(std::move(known.record));
  }
  states_.clear();
  return records;
}

}  // namespace regraph
