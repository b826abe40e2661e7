// What workers do for a search: apply a step, judge a candidate. Internal to the driver.
#pragma once

#include "search/driver.h"
#include "search/journal.h"
#include "search/worker_pool.h"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace regraph {

// What the run works with; references outlive it.
struct SearchInputs {
  const Problem& problem;
  const Expander& expander;
  Evaluator& evaluator;
  const ReGraph& graph;
  const SearchConfig& config;
  SearchObserver* observer;
  const Cancellation& cancellation;
  SearchJournal* journal;  // may be null
};

// Applies a step.
class ExpandJob final : public Job {
 public:
  ExpandJob(const SearchInputs& inputs, std::shared_ptr<const Candidate> parent,
            StepProposal proposal, int variant, ExpansionContext context)
      : expander_(inputs.expander),
        parent_(std::move(parent)),
        proposal_(std::move(proposal)),
        variant_(variant),
        context_(std::move(context)) {}

  void run() override {
    Result<Candidate> applied =
        expander_.apply(*parent_, proposal_, variant_, context_, cancellation);
    if (applied) {
      child = std::make_shared<const Candidate>(std::move(applied).value());
    } else {
      refusal = std::move(applied).error();
    }
  }

  std::shared_ptr<const Candidate> child;  // null when refused
  Error refusal;

 private:
  const Expander& expander_;
  std::shared_ptr<const Candidate> parent_;
  StepProposal proposal_;
  int variant_;
  ExpansionContext context_;
};

// Judges a candidate and, given a context, lists what could be done next.
class EvaluateJob final : public Job {
 public:
  EvaluateJob(const SearchInputs& inputs, std::shared_ptr<const Candidate> candidate,
              const EvaluationBudget& budget, std::optional<ExpansionContext> context)
      : problem_(inputs.problem),
        expander_(inputs.expander),
        evaluator_(inputs.evaluator),
        candidate_(std::move(candidate)),
        budget_(budget),
        context_(std::move(context)) {}

  void run() override {
    evaluation = evaluator_.evaluate(*candidate_, budget_, cancellation);
    const double seconds = evaluation.time.median_seconds;
    if (evaluation.correct() && !(seconds > 0.0 && std::isfinite(seconds))) {
      evaluation.verdict = Verdict::suspicious;
      evaluation.message = "the evaluator reported a time that is not a positive number";
    }
    if (!context_ || !evaluation.correct()) return;
    context_->evaluation = evaluation;
    proposals = expander_.propose(*candidate_, *context_, cancellation);
  }

  Evaluation evaluation;
  std::vector<StepProposal> proposals;

 private:
  const Problem& problem_;
  const Expander& expander_;
  Evaluator& evaluator_;
  std::shared_ptr<const Candidate> candidate_;
  EvaluationBudget budget_;
  std::optional<ExpansionContext> context_;
};

}  // namespace regraph
