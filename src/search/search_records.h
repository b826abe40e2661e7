// What a run keeps in its journal and recalls from it: remembers the journal's first error, which
// ends the run, and where the search stands.
#pragma once

#include "search/budget_meter.h"
#include "search/journal.h"

#include <optional>

namespace regraph {

class SearchRecords {
 public:
  // Both must outlive this.
  SearchRecords(SearchJournal& journal, const BudgetMeter& budget)
      : journal_(journal), budget_(budget) {}

  // Set once something could not be read (ErrorCode::parse) or written (io).
  [[nodiscard]] const std::optional<Error>& failure() const { return failure_; }
  void require(const Status& status);

  // A result was committed.
  void committed() { ++commits_; }
  // Whether an earlier sitting committed more than this one so far.
  [[nodiscard]] bool behind() const { return commits_ < journal_.progress().commits; }
  // Whether the search proper is over, says the journal; then all that is still to be committed is
  // recorded, and other tickets are not worth any work.
  [[nodiscard]] bool over_already() const { return journal_.progress().end.has_value(); }
  // Why it ended, once this sitting has come to that point.
  [[nodiscard]] std::optional<StopReason> ended_here() const {
    return behind() ? std::nullopt : journal_.progress().end;
  }
  void record_end(StopReason reason);

  // The budget's share at which the next expansion is issued. The clock's is what it was when that
  // was first done.
  [[nodiscard]] double share_at_issue();
  // That it was issued.
  void record_issue(double share);

  // What is recorded, or nothing; also after an error.
  [[nodiscard]] std::optional<MeasurementRecord> baseline() { return read(journal_.baseline()); }
  [[nodiscard]] std::optional<ExpansionRecord> expansion(const Ticket& ticket,
                                                         const StepProposal& step) {
    return read(journal_.expansion(ticket, step));
  }
  [[nodiscard]] std::optional<MeasurementRecord> measurement(const Ticket& ticket,
                                                             const Candidate& candidate) {
    return read(journal_.measurement(ticket, candidate));
  }
  [[nodiscard]] std::optional<ConfirmationRecord> confirmation(int ordinal, std::uint32_t state,
                                                               const EvaluationBudget& budget) {
    return read(journal_.confirmation(ordinal, state, budget));
  }

  void record_baseline(const MeasurementRecord& record) {
    require(up_to_date().record_baseline(record));
  }
  void record_expansion(const Ticket& ticket, const ExpansionRecord& record, bool durable) {
    require(up_to_date().record_expansion(ticket, record, durable));
  }
  void record_measurement(const Ticket& ticket, const MeasurementRecord& record) {
    require(up_to_date().record_measurement(ticket, record));
  }
  void record_confirmation(int ordinal, const ConfirmationRecord& record) {
    require(up_to_date().record_confirmation(ordinal, record));
  }

 private:
  // The journal, told where the search stands.
  [[nodiscard]] SearchJournal& up_to_date() {
    journal_.advance(commits_, budget_.elapsed_seconds());
    return journal_;
  }
  template <typename Record>
  [[nodiscard]] std::optional<Record> read(Result<std::optional<Record>> known) {
    if (known) return std::move(*known);
    require(known.error());
    return std::nullopt;
  }

  SearchJournal& journal_;
  const BudgetMeter& budget_;
  std::uint64_t commits_ = 0;
  std::optional<Error> failure_;
};

}  // namespace regraph
