#include "dataset/collect_slowdowns.h"

#include "dataset/pair_maker.h"
#include "eval/model/device.h"
#include "rewrite/inverse/inverse_rewrite.h"
#include "rewrite/inverse_rewriter.h"
#include "search/final_selection.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace regraph::dataset {

namespace {

// Proposals that are tried for a way back: all of one step's settings, rarely more.
constexpr std::size_t kMostRepairs = 48;

class SlowdownCollector {
 public:
  SlowdownCollector(const OpenedKernel& kernel, const SlowdownSource& source,
                    const Cancellation& cancellation)
      : session_(*kernel.session),
        rewriter_(kernel.rewriter()),
        inverse_(session_.problem(), limits_of(session_.device())),
        source_(source),
        prompts_(kernel.prompts),
        cancellation_(cancellation),
        problem_(registered_problem(session_, source.kernel.name, source.kernel.family)),
        maker_(session_, problem_, source.kernel.kernel.string(), "slowdown") {}

  Collected collect() && {
    collected_.problems.push_back(problem_);
    known_.insert(session_.original().identity);
    slow_down(session_.original(), 0, "");
    return std::move(collected_);
  }

 private:
  void slow_down(const Candidate& fast, int depth, const std::string& so_far) {
    if (depth >= source_.depth) return;
    for (const rewrite::InverseRewrite& inverse : rewrite::inverse_rewrites()) {
      if (cancellation_.requested()) return;
      const auto slow = inverse_.apply(inverse, fast);
      if (!slow || !known_.insert(slow->identity).second) continue;
      const std::string taken =
          so_far + (so_far.empty() ? "without " : ", without ") + inverse.taken_away;
      consider(*slow, fast, std::string(inverse.undone_by), taken);
      slow_down(*slow, depth + 1, taken);
    }
  }

  // The proposal with which the rewriter makes `fast` of `slow`.
  [[nodiscard]] std::optional<StepProposal> repair(const Candidate& slow, const Candidate& fast,
                                                   const std::string& step) const {
    std::size_t tried = 0;
    for (const StepProposal& proposal : rewriter_.propose(slow, {}, cancellation_)) {
      if (proposal.step != step) continue;
      if (++tried > kMostRepairs || cancellation_.requested()) return std::nullopt;
      const auto back = rewriter_.apply(slow, proposal, 0, {}, cancellation_);
      if (back && back->identity == fast.identity) return proposal;
    }
    return std::nullopt;
  }

  // As a search would, once; pairs are executed again.
  [[nodiscard]] Verdict judge(const Candidate& candidate) {
    const auto known = judged_.find(candidate.identity);
    if (known != judged_.end()) return known->second;
    const EvaluationBudget budget = first_look(session_.configuration());
    const Verdict verdict = session_.evaluate(candidate, budget, cancellation_).verdict;
    judged_.emplace(candidate.identity, verdict);
    return verdict;
  }

  void consider(const Candidate& slow, const Candidate& fast, const std::string& step,
                const std::string& taken) {
    ++collected_.considered;
    for (const Candidate* one : {&slow, &fast}) {
      const Verdict found = judge(*one);
      if (found == Verdict::correct) continue;
      ++collected_.dropped[name(found)];
      return;
    }
    const auto proposal = repair(slow, fast, step);
    const StepProposal back = proposal.value_or(StepProposal{step, {}});
    auto pair =
        maker_.make({slow, fast, back, {}, fmt::format("{}; {} repairs it", taken, back.text())},
                    cancellation_);
    if (!pair) {
      ++collected_.dropped[pair.error().message];
      return;
    }
    const StepProposal open{step, {}};
    const score::RegisteredState state = registered_state(problem_, slow, open, {});
    const Prompt prompt = prompts_.apply(slow, {}, open);
    collected_.states.push_back({score::state_text(state), state.id, problem_.kernel,
                                 problem_.family, step, stage_of(step), 1, prompt.system,
                                 prompt.user});
    AnswerItem answer;
    answer.state = state.id;
    answer.kernel = problem_.kernel;
    answer.family = problem_.family;
    answer.step = step;
    answer.completion = answer_for(slow, fast, session_.problem().signature.name);
    answer.outcome = pair->verdict;
    answer.method = pair->method;
    answer.seconds = pair->seconds_fast;
    answer.seconds_low = pair->seconds_fast_low;
    answer.seconds_high = pair->seconds_fast_high;
    answer.parent_seconds = pair->seconds_slow;
    answer.parent_seconds_low = pair->seconds_slow_low;
    answer.parent_seconds_high = pair->seconds_slow_high;
    answer.origin = "slowdown";
    collected_.answers.push_back(std::move(answer));
    collected_.pairs.push_back(std::move(*pair));
  }

  const Session& session_;
  const Expander& rewriter_;
  const rewrite::InverseRewriter inverse_;
  const SlowdownSource& source_;
  const PromptMaker& prompts_;
  const Cancellation& cancellation_;
  const score::RegisteredProblem problem_;
  PairMaker maker_;
  std::unordered_set<Hash128> known_;
  std::unordered_map<Hash128, Verdict> judged_;
  Collected collected_;
};

}  // namespace

Result<Collected, SessionError> collect_slowdowns(const SlowdownSource& source,
                                                  const Installation& installation,
                                                  const Cancellation& cancellation) {
  const auto kernel = open_kernel(source.kernel, installation, cancellation);
  if (!kernel) return kernel.error();
  Collected collected = SlowdownCollector(*kernel, source, cancellation).collect();
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  return collected;
}

}  // namespace regraph::dataset
