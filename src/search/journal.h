// What a search keeps so that it can be continued after it ended in any way. A search is a state
// machine that answers the same results with the same tickets, so it is continued by running it
// again with every recorded result at hand: nothing recorded is measured twice, and the graph, the
// order of commits and the answer are those of a run that was never interrupted.
//
// What depends on the clock is recorded too: when the search ended and, under a budget of seconds,
// how much of it was used when a ticket was issued.
#pragma once

#include "base/result.h"
#include "eval/evaluator.h"
#include "kernel/candidate.h"
#include "kernel/evaluation.h"
#include "regraph/expander.h"
#include "search/outcome.h"
#include "search/searcher.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// What became of an EXPAND ticket.
struct ExpansionRecord {
  StepProposal step;
  std::shared_ptr<const Candidate> child;  // null when there is none; its form is not kept
  std::string refusal;                     // why there is none: "refused", "crash", "timeout", ...
  std::string message;                     // the same in words; may be empty
};

// What became of a MEASURE ticket, and of the baseline.
struct MeasurementRecord {
  StepProposal step;  // that made the candidate; empty for the baseline
  std::shared_ptr<const Candidate> candidate;
  Evaluation evaluation;
  std::vector<StepProposal> proposals;  // what can be applied to the candidate
  bool lost = false;                    // it never came to an end and was written off
};

// A confirmation of the final selection; it is known by its place in their order.
struct ConfirmationRecord {
  std::uint32_t state = 0;
  EvaluationBudget budget;
  Evaluation evaluation;
};

struct JournalProgress {
  std::uint64_t commits = 0;      // results known to have been committed
  double seconds = 0.0;           // of searching, all sittings together
  std::optional<StopReason> end;  // the search proper is over; nothing may be issued any more
};

// Called on the thread that runs the search. Whatever a record function returned for is there after
// a crash of the program or the machine, except where `durable` is false.
//
// Errors of the reading functions: parse when what is stored cannot be read or is another search's.
// Of the writing ones: resource when no space is left, io.
class SearchJournal {
 public:
  virtual ~SearchJournal() = default;

  [[nodiscard]] virtual Result<std::optional<MeasurementRecord>> baseline() = 0;
  [[nodiscard]] virtual Status record_baseline(const MeasurementRecord& record) = 0;

  // The share of the budget that was used when the expansion number `ordinal` was issued.
  [[nodiscard]] virtual Result<std::optional<double>> issue(int ordinal) = 0;
  // Kept in memory until the next durable record, which makes sense only together with it.
  virtual void record_issue(int ordinal, double budget_fraction) = 0;

  // `step` is what the ticket stands for now; a record of another step is an error.
  [[nodiscard]] virtual Result<std::optional<ExpansionRecord>> expansion(
      const Ticket& ticket, const StepProposal& step) = 0;
  // Not `durable`: may wait for the next durable record, as it costs nothing to do again.
  [[nodiscard]] virtual Status record_expansion(const Ticket& ticket, const ExpansionRecord& record,
                                                bool durable) = 0;

  // `candidate` is what the ticket stands for now; a record of another one is an error.
  [[nodiscard]] virtual Result<std::optional<MeasurementRecord>> measurement(
      const Ticket& ticket, const Candidate& candidate) = 0;
  [[nodiscard]] virtual Status record_measurement(const Ticket& ticket,
                                                  const MeasurementRecord& record) = 0;

  // `state` and `budget` are what is to be confirmed; a record of others is an error.
  [[nodiscard]] virtual Result<std::optional<ConfirmationRecord>> confirmation(
      int ordinal, std::uint32_t state, const EvaluationBudget& budget) = 0;
  [[nodiscard]] virtual Status record_confirmation(int ordinal,
                                                   const ConfirmationRecord& record) = 0;

  // What is known by now of a step that somebody made up, the how manieth; replaces what was noted
  // of it before.
  // Kept in memory until the next durable record.
  virtual void note_new_step(int ordinal, const NewStepRecord& step) = 0;

  // What was known when the journal was opened.
  [[nodiscard]] virtual const JournalProgress& progress() const = 0;
  // Where the search stands; kept with the next durable record.
  virtual void advance(std::uint64_t commits, double seconds) = 0;
  // The search proper ended for this reason. Not called when it was cancelled.
  [[nodiscard]] virtual Status record_end(StopReason reason) = 0;
};

}  // namespace regraph
