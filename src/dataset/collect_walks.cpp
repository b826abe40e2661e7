#include "dataset/collect_walks.h"

#include "base/hash.h"
#include "base/random.h"
#include "dataset/pair_maker.h"
#include "search/final_selection.h"

#include <algorithm>
#include <set>
#include <utility>

namespace regraph::dataset {

namespace {

// What a draw is for.
enum Purpose : std::uint64_t { kStep = 1, kSetting = 2, kAsking = 3 };

class Walker {
 public:
  Walker(const OpenedKernel& kernel, const WalkSource& source, const Cancellation& cancellation)
      : session_(*kernel.session),
        rewriter_(kernel.rewriter()),
        source_(source),
        prompts_(kernel.prompts),
        cancellation_(cancellation),
        problem_(registered_problem(session_, source.kernel.name, source.kernel.family)),
        maker_(session_, problem_, source.kernel.kernel.string(), "walk", source.seed),
        draws_(hash_text(source.kernel.name).low) {}

  Collected collect() && {
    collected_.problems.push_back(problem_);
    for (int walk = 0; walk < source_.walks; ++walk)
      take_walk(static_cast<std::uint64_t>(walk));
    return std::move(collected_);
  }

 private:
  [[nodiscard]] std::uint64_t draw(std::uint64_t walk, std::uint64_t place, Purpose purpose,
                                   std::uint64_t count) const {
    return random_bits(source_.seed, draws_, walk, place, purpose) % count;
  }

  // What applies, by step in a fixed order.
  [[nodiscard]] std::vector<std::vector<StepProposal>> steps_at(const Candidate& candidate) const {
    std::vector<std::vector<StepProposal>> steps;
    for (StepProposal& proposal : rewriter_.propose(candidate, {}, cancellation_)) {
      const auto known = std::ranges::find_if(steps, [&](const std::vector<StepProposal>& step) {
        return step.front().step == proposal.step;
      });
      if (known == steps.end()) {
        steps.push_back({std::move(proposal)});
      } else {
        known->push_back(std::move(proposal));
      }
    }
    return steps;
  }

  void take_walk(std::uint64_t walk) {
    Candidate at = session_.original();
    std::vector<std::string> history;
    for (int place = 0; place < source_.depth && !cancellation_.requested(); ++place) {
      const auto depth = static_cast<std::uint64_t>(place);
      const auto steps = steps_at(at);
      if (steps.empty()) return;
      const std::vector<StepProposal>& settings = steps[draw(walk, depth, kStep, steps.size())];
      const StepProposal& proposal = settings[draw(walk, depth, kSetting, settings.size())];
      auto child = rewriter_.apply(at, proposal, 0, {}, cancellation_);
      if (!child || child->identity == at.identity) return;
      const bool asked = to_unit_interval(random_bits(source_.seed, draws_, walk, depth, kAsking)) <
                         source_.asked_values;
      take_edge({at, *child, proposal, asked, static_cast<int>(settings.size())}, history);
      history.push_back(proposal.step);
      at = std::move(*child);
    }
  }

  struct Edge {
    const Candidate& parent;
    const Candidate& child;
    const StepProposal& proposal;
    bool asked_values;
    int settings;
  };

  [[nodiscard]] Evaluation judge(const Candidate& candidate) const {
    return session_.evaluate(candidate, first_look(session_.configuration()), cancellation_);
  }

  void take_edge(const Edge& edge, const std::vector<std::string>& history) {
    const bool chooses = source_.task == score::Task::choose;
    StepProposal asked;
    if (!chooses) asked.step = edge.proposal.step;
    if (!chooses && edge.asked_values) asked.parameters = edge.proposal.parameters;
    score::RegisteredState state = registered_state(problem_, edge.parent, asked, history);
    state.task = source_.task;
    state.id = score::state_id(state);
    AnswerItem answer;
    answer.state = state.id;
    answer.kernel = problem_.kernel;
    answer.family = problem_.family;
    answer.step = edge.proposal.step;
    answer.completion =
        chooses ? choice_of(edge.proposal)
                : answer_for(edge.parent, edge.child, session_.problem().signature.name);
    if (!answered_.insert(state.id + answer.completion).second) return;
    Evaluation parent;
    answer.outcome = kUnjudged;
    answer.origin = "walk";
    if (source_.judge) {
      parent = judge(edge.parent);
      put_judgement(parent, judge(edge.child), answer);
      keep_pair(edge, history);
    }
    if (asked_.insert(state.id).second) {
      Prompt prompt = chooses ? prompts_.choose(edge.parent, parent)
                              : prompts_.apply(edge.parent, parent, asked);
      collected_.states.push_back({score::state_text(state), state.id, problem_.kernel,
                                   problem_.family, asked.step, stage_of(edge.proposal.step),
                                   asked.parameters.empty() ? edge.settings : 1,
                                   std::move(prompt.system), std::move(prompt.user)});
    }
    collected_.answers.push_back(std::move(answer));
  }

  void keep_pair(const Edge& edge, const std::vector<std::string>& history) {
    ++collected_.considered;
    auto pair = maker_.make({edge.parent, edge.child, edge.proposal, history, edge.proposal.text()},
                            cancellation_);
    if (pair) {
      collected_.pairs.push_back(std::move(*pair));
    } else {
      ++collected_.dropped[pair.error().message];
    }
  }

  const Session& session_;
  const Expander& rewriter_;
  const WalkSource& source_;
  const PromptMaker& prompts_;
  const Cancellation& cancellation_;
  const score::RegisteredProblem problem_;
  PairMaker maker_;
  const std::uint64_t draws_;
  std::set<std::string> asked_;
  std::set<std::string> answered_;
  Collected collected_;
};

}  // namespace

Result<Collected, SessionError> collect_walks(const WalkSource& source,
                                              const Installation& installation,
                                              const Cancellation& cancellation) {
  const auto kernel = open_kernel(source.kernel, installation, cancellation);
  if (!kernel) return kernel.error();
  Collected collected = Walker(*kernel, source, cancellation).collect();
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  return collected;
}

}  // namespace regraph::dataset
