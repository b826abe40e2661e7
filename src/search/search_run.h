// One run of a search: the owner's side. Internal to the driver.
#pragma once

#include "search/driver.h"
#include "search/journal.h"
#include "search/search_jobs.h"
#include "search/searcher.h"
#include "search/worker_pool.h"

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

class SearchRun {
 public:
  // How often cancellation and time limits are looked at.
  static constexpr std::chrono::milliseconds kPollInterval{20};

  SearchRun(const SearchInputs& inputs, std::unique_ptr<Searcher> searcher);

  // Does everything run_search promises, once.
  [[nodiscard]] Result<SearchOutcome> run(const Candidate& baseline);

 private:
  // A ticket that is being worked on, or whose result waits for its turn.
  struct Outstanding {
    Ticket ticket;
    std::shared_ptr<Job> job;  // null when the result was recalled
    bool complete = false;
    bool recalled = false;          // the journal knows the result
    ExpansionRecord expansion;      // once complete, by kind; of an expansion that is done again:
    MeasurementRecord measurement;  // what it is expected to give
  };

  [[nodiscard]] Status judge_baseline(const Candidate& baseline);
  [[nodiscard]] Result<MeasurementRecord> evaluate_baseline();
  void search();
  void issue_tickets();
  void submit(const Ticket& ticket);
  void submit_expansion(const Ticket& ticket);
  void submit_measurement(const Ticket& ticket);
  [[nodiscard]] bool wait_for_progress();
  void complete(const std::shared_ptr<Job>& job, bool lost);
  void complete_expansion(Outstanding& entry, const ExpandJob& job, bool lost);
  void complete_measurement(Outstanding& entry, const EvaluateJob& job, bool lost);
  [[nodiscard]] Outstanding* next_to_commit();
  void commit(Outstanding taken);
  void commit_expansion(const Ticket& ticket, ExpansionRecord record);
  void commit_measurement(const Ticket& ticket, MeasurementRecord record, bool recalled);
  void note(const Resolution& resolution);
  void announce(std::uint32_t state, bool improved, bool recalled);
  void choose_answer();
  [[nodiscard]] std::optional<Evaluation> confirm(std::uint32_t state,
                                                  const EvaluationBudget& budget);
  [[nodiscard]] std::optional<Evaluation> evaluate_now(std::uint32_t state,
                                                       const EvaluationBudget& budget);

  // Remembers the first error of the journal, which ends the run.
  void require(const Status& status);
  // The budget's used share at which the next expansion is issued.
  [[nodiscard]] double share_at_issue();
  // Whether the journal says that the search came to its end, and that it ended here.
  [[nodiscard]] bool over_already() const;
  [[nodiscard]] bool nothing_under_way() const;
  [[nodiscard]] bool ended_before() const;

  [[nodiscard]] std::vector<EdgeSeed> seeds(std::uint32_t state,
                                            const std::vector<StepProposal>& proposals);
  // Keeps what expanders may be told about an attempt.
  void remember(const AttemptRecord& attempt, std::string message);
  // What an expander is told about a step at a state, as far as it is committed.
  [[nodiscard]] ExpansionContext context_of(std::uint32_t state, const StepProposal& step) const;
  [[nodiscard]] std::vector<std::string> history(std::uint32_t state) const;
  [[nodiscard]] std::vector<std::uint32_t> states_to(std::uint32_t state) const;
  [[nodiscard]] Hash128 executable(const StateRecord& state) const;
  [[nodiscard]] double elapsed_seconds() const;
  [[nodiscard]] double budget_fraction() const;
  [[nodiscard]] bool time_is_up() const;
  [[nodiscard]] WorkerPool::Clock::duration patience() const;

  SearchInputs inputs_;
  std::unique_ptr<Searcher> searcher_;
  WorkerPool::Clock::time_point started_;
  SearchOutcome outcome_;
  std::vector<std::vector<StepProposal>> proposals_;  // by state
  std::map<std::uint64_t, std::pair<std::string, std::string>>
      refusals_;                                       // by expansion ticket: reason, message
  std::map<std::uint64_t, Outstanding> outstanding_;   // by ticket
  std::map<std::string, std::uint32_t> step_numbers_;  // in the order steps were first proposed
  int issued_ = 0;                                     // expansions
  // Of those that cannot be repeated for nothing, the ones that left nothing to evaluate.
  int fruitless_ = 0;
  // An application that paid.
  struct PaidStep {
    std::uint32_t parent = 0;
    std::uint32_t child = 0;
    double log_gain = 0.0;
  };
  // By edge of the ReGraph (the step before, the step): the best two, at different states.
  std::map<std::pair<std::string, std::string>, std::vector<PaidStep>> paid_;
  // By state and step; of expanders whose answers differ. The latest few.
  std::map<std::pair<std::uint32_t, std::string>, std::vector<FailedVariant>> failed_;
  std::uint64_t commits_ = 0;
  int confirmations_ = 0;
  double earlier_seconds_ = 0.0;  // of earlier sittings
  std::optional<Error> failure_;  // of the journal
  double best_log_speedup_ = 0.0;
  std::uint32_t best_state_ = 0;
  WorkerPool pool_;  // last: its destructor waits for jobs that use the inputs
};

}  // namespace regraph
