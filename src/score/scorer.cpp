#include "score/scorer.h"

#include "candidate/candidate_reader.h"
#include "kernel/launch_change.h"
#include "llm/prompt/answer_parser.h"
#include "llm/prompt/code_tokens.h"
#include "llm/prompt/step_answer.h"
#include "regraph/step_graph.h"
#include "score/score_problem.h"
#include "source/extract.h"

#include <fmt/format.h>

#include <chrono>
#include <list>
#include <utility>

namespace regraph::score {

namespace {

using learn::AnswerOutcome;

// What an answer to `choose` may look like; docs/prompts.md, kind propose.
constexpr const char* kChoiceSchema =
    R"({"type": "object", "required": ["steps"], "additionalProperties": false, "properties":
        {"steps": {"type": "array", "maxItems": 16, "items": {"type": "object",
          "required": ["step"], "additionalProperties": false, "properties":
            {"step": {"type": "string", "minLength": 1, "maxLength": 120},
             "why": {"type": "string", "maxLength": 600},
             "parameters": {"type": "object", "maxProperties": 8,
                            "additionalProperties": {"type": "string", "maxLength": 60}}}}}}})";

// An answer that is no candidate, and why.
struct NoCandidate {
  AnswerOutcome outcome;
  std::string message;
};

struct ReadAnswer {
  Candidate candidate;
  // Of `choose`, and of `apply` where all values were asked for: what the rewriter is to be
  // compared with.
  std::optional<StepProposal> proposal;
};

// No step is applied to an answer, so it needs no form: giving it one takes as long as judging it.
// What the evaluator finds out does not depend on it.
Candidate opaque_candidate(const std::string& source, const LaunchPlan& plan,
                           const std::vector<std::string>& assumptions) {
  Candidate candidate;
  candidate.source = source;
  candidate.plan = plan;
  candidate.assumptions = assumptions;
  candidate.identity = candidate_identity(token_text(source), plan);
  return candidate;
}

// Whether what runs is the same.
bool runs_the_same(const Candidate& one, const Evaluation& of_one, const Candidate& other,
                   const Evaluation& of_other) {
  return of_one.machine_code != Hash128{} && of_one.machine_code == of_other.machine_code &&
         one.plan == other.plan;
}

}  // namespace

AnswerOutcome outcome_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::correct:
      return AnswerOutcome::correct;
    case Verdict::compile_error:
      return AnswerOutcome::not_compiled;
    case Verdict::launch_error:
      return AnswerOutcome::not_launched;
    case Verdict::suspicious:
      return AnswerOutcome::suspicious;
    default:
      return AnswerOutcome::wrong;
  }
}

AnswerOutcome outcome_of(const Evaluation& evaluation) {
  return evaluation.has_untaken_branches() ? AnswerOutcome::suspicious
                                           : outcome_of(evaluation.verdict);
}

struct Scorer::State {
  State(ScorerOptions chosen, Installation at, StateRegistry of, llm::JsonSchema schema)
      : options(std::move(chosen)),
        installation(std::move(at)),
        registry(std::move(of)),
        choice_schema(std::move(schema)) {}

  const ScorerOptions options;
  const Installation installation;
  const StateRegistry registry;
  const llm::JsonSchema choice_schema;
  // The one used last is first.
  std::list<std::pair<std::string, std::unique_ptr<ScoreProblem>>> open;

  [[nodiscard]] Result<ScoreProblem*, SessionError> problem(const std::string& id,
                                                            const Cancellation& cancellation) {
    for (auto entry = open.begin(); entry != open.end(); ++entry) {
      if (entry->first != id) continue;
      open.splice(open.begin(), open, entry);
      return open.front().second.get();
    }
    const OpeningPlace place{options.device, options.evaluator, options.candidate_seconds,
                             options.fleet};
    auto opened = ScoreProblem::open(*registry.problem(id), place, installation, cancellation);
    if (!opened) return std::move(opened).error();
    while (!open.empty() && open.size() >= options.open_problems)
      open.pop_back();
    open.emplace_front(id, std::move(*opened));
    return open.front().second.get();
  }

  [[nodiscard]] Result<ReadAnswer, NoCandidate> read(const ScoreItem& item,
                                                     const RegisteredState& state,
                                                     const Candidate& parent, ScoreProblem& problem,
                                                     const Cancellation& cancellation) const {
    llm::ChatChoice choice;
    choice.text = item.completion;
    choice.finish = item.cut_off ? llm::FinishReason::length : llm::FinishReason::stop;
    return state.task == Task::apply ? read_kernel(choice, state, parent, problem.session())
                                     : read_choice(choice, parent, problem, cancellation);
  }

  [[nodiscard]] static Result<ReadAnswer, NoCandidate> read_kernel(const llm::ChatChoice& choice,
                                                                   const RegisteredState& state,
                                                                   const Candidate& parent,
                                                                   const Session& session) {
    const Problem& problem = session.problem();
    // The state's own source is what was shown; the parent may be laid out otherwise.
    auto parsed = llm::AnswerParser().parse(choice, problem, parent,
                                            source::without_line_directives(state.source));
    if (!parsed) return NoCandidate{AnswerOutcome::unreadable, parsed.error().message};
    if (parsed->declined) return NoCandidate{AnswerOutcome::unchanged, *parsed->declined};
    const LaunchPlan plan = parsed->launch
                                ? changed_plan(parent.plan, problem.signature.name, *parsed->launch)
                                : parent.plan;
    if (plan == parent.plan && llm::same_tokens(parsed->source, state.source))
      return NoCandidate{AnswerOutcome::unchanged, "nothing was changed but the layout"};
    ReadAnswer answer{opaque_candidate(parsed->source, plan, parent.assumptions), std::nullopt};
    const Step* step = session.graph().find(state.step);
    const bool all_said = step != nullptr && state.parameters.size() == step->parameters.size();
    if (all_said) answer.proposal = StepProposal{state.step, state.parameters};
    return answer;
  }

  [[nodiscard]] Result<ReadAnswer, NoCandidate> read_choice(
      const llm::ChatChoice& choice, const Candidate& parent, ScoreProblem& problem,
      const Cancellation& cancellation) const {
    const auto steps = llm::parse_steps(choice, choice_schema, problem.session().graph(), 1);
    if (!steps) return NoCandidate{AnswerOutcome::unreadable, steps.error().message};
    if (steps->empty()) return NoCandidate{AnswerOutcome::unchanged, "no step was named"};
    const StepProposal proposal{steps->front().id, steps->front().parameters};
    auto candidate = problem.rewriter().apply(parent, proposal, 0, {}, cancellation);
    if (!candidate) {
      return NoCandidate{AnswerOutcome::unchanged,
                         fmt::format("{}: {}", proposal.text(), candidate.error().message)};
    }
    if (candidate->identity == parent.identity)
      return NoCandidate{AnswerOutcome::unchanged, "the step changes nothing"};
    return ReadAnswer{std::move(*candidate), std::nullopt};
  }

  // Beside what the rewriter makes of the same.
  static void compare(const ReadAnswer& answer, const Evaluation& evaluation,
                      const Candidate& parent, const Evaluation& of_parent, ScoreProblem& problem,
                      Score& score, const Cancellation& cancellation) {
    if (!answer.proposal) return;
    const auto own = problem.rewriter().apply(parent, *answer.proposal, 0, {}, cancellation);
    if (!own) return;
    const Evaluation of_own = problem.judge(*own, cancellation);
    score.same_as_rewriter = runs_the_same(answer.candidate, evaluation, *own, of_own);
    score.facts.step_is_no_op = runs_the_same(*own, of_own, parent, of_parent);
  }

  void judge(const ScoreItem& item, Score& score, const Cancellation& cancellation) {
    const RegisteredState* state = registry.state(item.state);
    if (state == nullptr) {
      score.message = fmt::format("no state '{}' is registered", item.state.substr(0, 64));
      return;
    }
    auto opened = problem(state->problem, cancellation);
    if (!opened) {
      score.message = opened.error().message;
      return;
    }
    ScoreProblem& problem = **opened;
    const auto parent = problem.parent(*state, cancellation);
    if (!parent) {
      score.message = "the state's kernel cannot be read: " + parent.error().message;
      return;
    }
    const Evaluation of_parent = problem.judge(*parent, cancellation);
    const Evaluation of_original = problem.judge(problem.session().original(), cancellation);
    if (!of_parent.correct() || !of_original.correct()) {
      score.message = "the state's kernel is not judged correct: " +
                      (of_original.correct() ? of_parent : of_original).message;
      return;
    }
    score.parent_time = of_parent.time;
    score.facts.parent_seconds = of_parent.time.median_seconds;
    score.facts.original_seconds = of_original.time.median_seconds;
    auto answer = read(item, *state, *parent, problem, cancellation);
    if (!answer) {
      score.facts.outcome = answer.error().outcome;
      score.message = answer.error().message;
      return;
    }
    const Evaluation evaluation = problem.judge(answer->candidate, cancellation);
    score.verdict = evaluation.verdict;
    score.message = evaluation.message;
    score.facts.outcome = outcome_of(evaluation);
    if (!evaluation.correct()) return;
    score.time = evaluation.time;
    score.facts.seconds = evaluation.time.median_seconds;
    score.bottleneck = evaluation.bottleneck;
    if (runs_the_same(answer->candidate, evaluation, *parent, of_parent))
      score.facts.outcome = AnswerOutcome::same_machine_code;
    compare(*answer, evaluation, *parent, of_parent, problem, score, cancellation);
  }
};

Scorer::Scorer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Scorer::~Scorer() = default;

Result<std::unique_ptr<Scorer>, SessionError> Scorer::open(const ScorerOptions& options,
                                                           const Installation& installation,
                                                           const Cancellation& cancellation) {
  (void)cancellation;
  auto registry = StateRegistry::load(options.states);
  if (!registry) return session_error(std::move(registry).error());
  auto schema = llm::JsonSchema::parse(kChoiceSchema);
  if (!schema) return SessionError{FailureCause::internal, schema.error().message};
  return std::unique_ptr<Scorer>(new Scorer(
      std::make_unique<State>(options, installation, std::move(*registry), std::move(*schema))));
}

Score Scorer::score(const ScoreItem& item, const Cancellation& cancellation) {
  const auto started = std::chrono::steady_clock::now();
  Score score;
  score.id = item.id;
  state_->judge(item, score, cancellation);
  if (cancellation.requested()) {
    score.facts.outcome = AnswerOutcome::no_verdict;
    score.message = "cancelled";
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
  score.scoring_seconds = took.count();
  return score;
}

}  // namespace regraph::score
