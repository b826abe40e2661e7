#include "llm/expand/step_chooser.h"

#include "llm/expand/step_meaning.h"
#include "llm/prompt/choice_and_code.h"
#include "llm/prompt/judge_answer.h"
#include "regraph/combined_steps.h"

#include <algorithm>
#include <utility>

namespace regraph::llm {

namespace {

// Steps of one list that count; the prompt asks for fewer.
constexpr std::size_t kMostNamed = 8;
constexpr const char* kModel = "model";
// What is closer to its floor cannot gain what a timing could tell from noise; what is that far
// below it shows that the floor is not one.
constexpr double kAtFloor = 1.03;
constexpr double kBelowFloor = 0.9;
constexpr double kGained = 0.99;
constexpr double kBehind = 2.0;
constexpr double kFarBehind = 4.0;
// Added to the logit of a step whose code came with the choice: it has been paid for.
constexpr double kThereAlready = 1.0;

StepProposal by_model(std::string step, int variants) {
  StepProposal proposal;
  proposal.step = std::move(step);
  proposal.parameters = {{kAppliedBy, kModel}};
  proposal.variant_limit = variants;
  return proposal;
}

// Places of the proposals that a known step means: those with the values that were named, or, where
// none has them or none were named, all of the step.
std::vector<std::size_t> meant_by(const NamedStep& named,
                                  const std::vector<StepProposal>& proposals) {
  std::vector<std::size_t> of_step;
  std::vector<std::size_t> with_values;
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    const StepProposal& proposal = proposals[place];
    if (proposal.step != named.id) continue;
    of_step.push_back(place);
    const bool agrees = std::ranges::all_of(named.parameters, [&](const auto& value) {
      const auto own = proposal.parameters.find(value.first);
      return own != proposal.parameters.end() && own->second == value.second;
    });
    if (agrees) with_values.push_back(place);
  }
  return with_values.empty() ? of_step : with_values;
}

// The place of a proposal with that step and these parameters; it is added if it is not there.
std::size_t place_for(StepProposal proposal, std::vector<StepProposal>& proposals) {
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    const StepProposal& other = proposals[place];
    if (other.step == proposal.step && other.parameters == proposal.parameters) return place;
  }
  proposals.push_back(std::move(proposal));
  return proposals.size() - 1;
}

std::vector<std::string> ids_of(const std::vector<NamedStep>& plan) {
  std::vector<std::string> ids;
  ids.reserve(plan.size());
  for (const NamedStep& step : plan)
    ids.push_back(step.id);
  return ids;
}

std::string key_of(const Candidate& candidate, const StepProposal& proposal) {
  return candidate.identity.hex() + " " + proposal.text();
}

}  // namespace

bool is_by_model(const StepProposal& proposal) {
  const auto by = proposal.parameters.find(kAppliedBy);
  return by != proposal.parameters.end() && by->second == kModel;
}

bool is_at_floor(const Evaluation& evaluation) {
  const double floor = evaluation.roofline_seconds;
  const double time = evaluation.time.median_seconds;
  if (!evaluation.correct() || !(floor > 0.0) || !(time > 0.0)) return false;
  return time >= kBelowFloor * floor && time <= kAtFloor * floor;
}

bool is_beside_the_point(const ExpansionContext& context) {
  if (context.story.path.empty()) return false;
  const double seconds = context.evaluation.time.median_seconds;
  const double before = context.story.path.back().seconds_before;
  const double best = context.story.best_seconds;
  return (before > 0.0 && seconds > kGained * before) || (best > 0.0 && seconds > kBehind * best);
}

bool is_left_behind(const ExpansionContext& context) {
  const double best = context.story.best_seconds;
  return best > 0.0 && context.evaluation.time.median_seconds > kFarBehind * best;
}

std::vector<const Step*> StepChooser::catalogue(const Facts& facts) const {
  std::vector<const Step*> steps;
  for (const Step* step : graph_.steps()) {
    if (step->granted(assume_) && step->possible(facts)) steps.push_back(step);
  }
  return steps;
}

void StepChooser::add_proposals(const Candidate& candidate, const ExpansionContext& context,
                                std::vector<StepProposal>& proposals,
                                const Cancellation& cancellation) const {
  if (is_at_floor(context.evaluation)) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.at_floor; });
    proposals.clear();
    return;
  }
  if (is_beside_the_point(context)) {
    tally_.change([](ExpansionStatistics& tally) { ++tally.beside_the_point; });
    return;
  }
  const std::vector<const Step*> steps = catalogue(context.evaluation.facts);
  if (!config_.apply) {
    if (!config_.ask || proposals.empty()) return;
    vote(ask(candidate, context, steps, cancellation), context, proposals);
    return;
  }
  const std::size_t others = proposals.size();
  for (const Step* step : steps) {
    const bool taken =
        std::any_of(proposals.begin(), proposals.begin() + static_cast<std::ptrdiff_t>(others),
                    [&](const StepProposal& proposal) { return proposal.step == step->id; });
    if (!taken) proposals.push_back(by_model(step->id, config_.variants));
  }
  const auto drop = [&](const auto& unwanted) {
    std::erase_if(proposals, [&](const StepProposal& proposal) {
      return is_by_model(proposal) && unwanted(proposal);
    });
  };
  if (!config_.ask) {
    if (requests_.offers_combinations()) {
      for (const OtherState& other : context.story.others) {
        StepProposal proposal = by_model(kCombine, 1);
        proposal.parameters[kWith] = std::to_string(other.state);
        proposals.push_back(std::move(proposal));
      }
    }
    return;
  }
  Opinions opinions = ask(candidate, context, steps, cancellation);
  if (opinions.lists == 0) return;
  if (opinions.empty == opinions.lists) {
    // It says that nothing will pay. What others do costs nobody anything.
    drop([](const StepProposal&) { return true; });
    return;
  }
  vote(opinions, context, proposals);
  keep_answer(candidate, std::move(opinions), context, proposals);
  // It has seen the catalogue and the counters: what it left out it would decline.
  drop([](const StepProposal& proposal) { return !(proposal.advice.named_share > 0.0); });
}

StepChooser::Opinions StepChooser::ask(const Candidate& candidate, const ExpansionContext& context,
                                       const std::vector<const Step*>& catalogue,
                                       const Cancellation& cancellation) const {
  const bool together = config_.apply && config_.style == AskingStyle::together;
  const PromptKind kind = together ? PromptKind::together : PromptKind::propose;
  const JsonSchema& schema = *requests_.prompts().prompt(kind).schema;
  tally_.change([](ExpansionStatistics& tally) { ++tally.proposals_asked; });
  Opinions opinions;
  const ChatRequest request = requests_.propose(candidate, context, catalogue, kind);
  const ChatResult result = model_.complete(request, cancellation);
  if (!result) return opinions;
  for (const ChatChoice& choice : result->choices) {
    std::optional<ChoiceAndCode> parts;
    if (together) {
      auto split = split_choice(choice);
      if (!split) continue;
      parts = std::move(*split);
    }
    const auto named = parse_steps(parts ? parts->steps : choice, schema, graph_, kMostNamed);
    if (!named) continue;
    tally_.change([&](ExpansionStatistics& tally) {
      ++tally.proposals_of_use;
      tally.empty_lists += named->empty() ? 1 : 0;
    });
    ++opinions.lists;
    opinions.empty += named->empty() ? 1 : 0;
    opinions.named.push_back(*named);
    if (parts && parts->code) opinions.written = AnswerInAdvance{request, std::move(*parts->code)};
  }
  if (config_.judge && opinions.lists > opinions.empty)
    ask_judge(candidate, context, catalogue, opinions, cancellation);
  return opinions;
}

void StepChooser::ask_judge(const Candidate& candidate, const ExpansionContext& context,
                            const std::vector<const Step*>& catalogue, Opinions& opinions,
                            const Cancellation& cancellation) const {
  const ChatResult judged =
      model_.complete(requests_.judge_optimisation(candidate, context, catalogue), cancellation);
  if (!judged) return;
  const JsonSchema& schema = *requests_.prompts().prompt(PromptKind::judge_optimisation).schema;
  auto advice = parse_optimisation(judged->choices.front(), schema, graph_);
  if (!advice) return;
  tally_.change([](ExpansionStatistics& tally) { ++tally.judged; });
  ++opinions.lists;
  advice->step.why = advice->change;
  opinions.named.push_back({advice->step});
}

bool StepChooser::is_done_or_taken_back(const NamedStep& named,
                                        const ExpansionContext& context) const {
  if (context.story.path.empty()) return false;
  const StepProposal& last = context.story.path.back().step;
  std::string words = last.step + " " + last.advice.title;
  if (const Step* step = graph_.find(last.step)) words += " " + step->name;
  if (takes_back(named.name, words)) return true;
  // A step of the catalogue may be done again; one that was made up is one change.
  return named.is_new && std::ranges::any_of(context.story.path, [&](const DoneStep& done) {
           return !done.step.advice.title.empty() &&
                  mean_the_same(named.name, done.step.advice.title);
         });
}

std::vector<std::size_t> StepChooser::places_of(const NamedStep& named,
                                                const ExpansionContext& context,
                                                std::vector<StepProposal>& proposals) const {
  if (named.id == kLeap) {
    if (!config_.apply || !requests_.offers_leaps()) return {};
    StepProposal leap = by_model(kLeap, 1);
    leap.parameters[kPlan] = plan_text(ids_of(named.plan));
    return {place_for(std::move(leap), proposals)};
  }
  if (named.id == kCombine) {
    StepProposal combination = by_model(kCombine, 1);
    if (const auto with = named.parameters.find(kWith); with != named.parameters.end())
      combination.parameters[kWith] = with->second;
    const bool offered = std::ranges::any_of(context.story.others, [&](const OtherState& other) {
      return other.state == state_to_combine(combination);
    });
    if (!config_.apply || !requests_.offers_combinations() || !offered) return {};
    return {place_for(std::move(combination), proposals)};
  }
  const Step* known = named.is_new ? step_meant_by(named.name, graph_) : graph_.find(named.id);
  if (known != nullptr) {
    NamedStep step = named;
    step.id = known->id;
    std::vector<std::size_t> places = meant_by(step, proposals);
    // The counters rule it out, and it was named all the same: it has seen the code.
    if (places.empty() && config_.apply && known->granted(assume_))
      places.push_back(place_for(by_model(known->id, config_.variants), proposals));
    // Its own step with the values that it chose.
    const bool own = places.size() == 1 && is_by_model(proposals[places.front()]);
    if (own && !named.parameters.empty() && !named.is_new) {
      StepProposal with_values = by_model(known->id, config_.variants);
      with_values.parameters.insert(named.parameters.begin(), named.parameters.end());
      return {place_for(std::move(with_values), proposals)};
    }
    return places;
  }
  if (!config_.apply || !named.is_new) return {};
  // One that was made up elsewhere, or here, and means the same, is the same step.
  StepProposal made_up = by_model(named.id, config_.variants);
  made_up.advice.title = named.name;
  const std::vector<StepProposal>* const lists[] = {&proposals, &context.story.new_steps};
  for (const std::vector<StepProposal>* list : lists) {
    const auto same = std::ranges::find_if(*list, [&](const StepProposal& other) {
      return !other.advice.title.empty() && mean_the_same(other.advice.title, named.name);
    });
    if (same == list->end()) continue;
    made_up.step = same->step;
    made_up.advice.title = same->advice.title;
    break;
  }
  made_up.parameters.insert(named.parameters.begin(), named.parameters.end());
  return {place_for(std::move(made_up), proposals)};
}

// Notes on the proposals how often they were named, and why.
void StepChooser::vote(const Opinions& opinions, const ExpansionContext& context,
                       std::vector<StepProposal>& proposals) const {
  std::map<std::size_t, double> votes;
  for (const std::vector<NamedStep>& list : opinions.named) {
    // The most promising come first: the votes of a list go down as 1, 1/2, 1/3, ...
    double sum = 0.0;
    for (std::size_t rank = 0; rank < list.size(); ++rank)
      sum += 1.0 / static_cast<double>(rank + 1);
    for (std::size_t rank = 0; rank < list.size(); ++rank) {
      const NamedStep& named = list[rank];
      const double weight = 1.0 / (static_cast<double>(rank + 1) * sum);
      if (is_done_or_taken_back(named, context)) {
        tally_.change([](ExpansionStatistics& tally) { ++tally.taken_back; });
        continue;
      }
      const std::vector<std::size_t> places = places_of(named, context, proposals);
      for (const std::size_t place : places) {
        votes[place] += weight / static_cast<double>(places.size());
        StepProposal& proposal = proposals[place];
        if (proposal.advice.reason.empty() && is_by_model(proposal))
          proposal.advice.reason = named.why;
      }
      tally_.change([&](ExpansionStatistics& tally) {
        if (!named.is_new || named.id == kLeap || named.id == kCombine) {
          ++tally.named_steps[named.id];
          return;
        }
        const std::string id = places.empty() ? named.id : proposals[places.front()].step;
        if (graph_.find(id) != nullptr) {
          ++tally.named_steps[id];
          return;
        }
        NewStep& step = tally.new_steps[id];
        if (step.named++ == 0) step.why = named.why;
      });
    }
  }
  const int asked = opinions.lists - opinions.empty;
  if (asked == 0) return;
  for (std::size_t place = 0; place < proposals.size(); ++place) {
    proposals[place].advice.opinions = asked;
    const auto share = votes.find(place);
    proposals[place].advice.named_share = share == votes.end() ? 0.0 : share->second / asked;
  }
}

// The code that came with the choice belongs to the first step; where another would apply that, the
// model's own is offered as well, as it is there already.
void StepChooser::keep_answer(const Candidate& candidate, Opinions opinions,
                              const ExpansionContext& context,
                              std::vector<StepProposal>& proposals) const {
  if (!opinions.written || opinions.named.empty() || opinions.named.front().empty()) return;
  const NamedStep& first = opinions.named.front().front();
  if (first.id == kCombine || is_done_or_taken_back(first, context)) return;
  const std::vector<std::size_t> places = places_of(first, context, proposals);
  if (places.empty()) return;
  std::size_t place = places.front();
  if (!is_by_model(proposals[place])) {
    StepProposal own = by_model(proposals[place].step, config_.variants);
    own.parameters.insert(first.parameters.begin(), first.parameters.end());
    own.advice.opinions = proposals[place].advice.opinions;
    own.advice.named_share = proposals[place].advice.named_share;
    own.advice.reason = first.why;
    place = place_for(std::move(own), proposals);
  }
  proposals[place].score.correction += kThereAlready;
  const std::lock_guard lock(mutex_);
  kept_.insert_or_assign(key_of(candidate, proposals[place]), std::move(*opinions.written));
}

std::optional<AnswerInAdvance> StepChooser::take_answer(const Candidate& candidate,
                                                        const StepProposal& proposal) const {
  const std::lock_guard lock(mutex_);
  auto kept = kept_.extract(key_of(candidate, proposal));
  if (kept.empty()) return std::nullopt;
  return std::move(kept.mapped());
}

}  // namespace regraph::llm
