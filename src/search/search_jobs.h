// What workers do for a search: apply a step, judge a candidate. Internal to the driver.
#pragma once

#include "base/cancellation.h"
#include "eval/evaluator.h"
#include "kernel/candidate.h"
#include "regraph/edge_scorer.h"
#include "regraph/expander.h"
#include "regraph/step_graph.h"
#include "search/config.h"
#include "search/journal.h"
#include "search/observer.h"
#include "search/outcome.h"
#include "search/worker_pool.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace regraph {

// What the run works with; references outlive it.
struct SearchInputs {
  const Expander& expander;
  Evaluator& evaluator;
  const StepGraph& graph;
  const SearchConfig& config;
  SearchObserver* observer;  // may be null
  const Cancellation& cancellation;
  SearchJournal& journal;
  const EdgeScorer* scorer = nullptr;  // null: priors come from the graph alone
  Objection objection = nullptr;       // null: every claim stands
};

// What a candidate is given when the search judges it.
[[nodiscard]] inline EvaluationBudget screening_budget(const SearchConfig& config) {
  EvaluationBudget budget;
  budget.seed = config.seed;
  budget.wall_seconds = config.evaluation_wall_seconds;
  return budget;
}

// A step to be applied.
struct ApplyRequest {
  std::shared_ptr<const Candidate> parent;
  StepProposal proposal;
  int variant = 0;
  ExpansionContext context;
};

// A candidate to be judged.
struct JudgeRequest {
  std::shared_ptr<const Candidate> candidate;
  EvaluationBudget budget;
  // With it, what could be done next is listed too; the evaluation in it is filled in.
  std::optional<ExpansionContext> context;
  // Known already: only what could be done next is asked for.
  std::optional<Evaluation> evaluation = std::nullopt;
};

class ApplyJob final : public Job {
 public:
  ApplyJob(const SearchInputs& inputs, ApplyRequest asked)
      : request(std::move(asked)), expander_(inputs.expander) {}

  void run() override {
    Result<Candidate> applied = expander_.apply(*request.parent, request.proposal, request.variant,
                                                request.context, cancellation);
    if (applied) {
      child = std::make_shared<const Candidate>(std::move(applied).value());
    } else {
      refusal = std::move(applied).error();
    }
  }

  const ApplyRequest request;
  std::shared_ptr<const Candidate> child;  // null when refused
  Error refusal;

 private:
  const Expander& expander_;
};

class JudgeJob final : public Job {
 public:
  // `prepares_only`: so that the same job without it is done sooner; what it finds is what is to
  // be expected then.
  JudgeJob(const SearchInputs& inputs, JudgeRequest asked, bool prepares_only = false)
      : request(std::move(asked)),
        prepares_only(prepares_only),
        expander_(inputs.expander),
        scorer_(inputs.scorer),
        evaluator_(inputs.evaluator) {}

  void run() override {
    evaluation = evaluate();
    const double seconds = evaluation.time.median_seconds;
    if (evaluation.correct() && !(seconds > 0.0 && std::isfinite(seconds))) {
      evaluation.verdict = Verdict::suspicious;
      evaluation.message = "the evaluator reported a time that is not a positive number";
    }
    if (!request.context || !evaluation.correct()) return;
    ExpansionContext context = *request.context;
    context.evaluation = evaluation;
    proposals = expander_.propose(*request.candidate, context, cancellation);
    if (scorer_ != nullptr) scorer_->score(*request.candidate, context, proposals);
  }

  const JudgeRequest request;
  const bool prepares_only;
  Evaluation evaluation;
  std::vector<StepProposal> proposals;

 private:
  [[nodiscard]] Evaluation evaluate() {
    if (request.evaluation) return *request.evaluation;
    return prepares_only ? evaluator_.prepare(*request.candidate, request.budget, cancellation)
                         : evaluator_.evaluate(*request.candidate, request.budget, cancellation);
  }

  const Expander& expander_;
  const EdgeScorer* scorer_;
  Evaluator& evaluator_;
};

}  // namespace regraph
