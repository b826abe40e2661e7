// A journal that stops taking records.
#pragma once

#include "search/journal.h"

#include <optional>

namespace regraph::test {

// Passes everything on until `records` were written, then fails like a full disk: what is on the
// disk is what a run that was killed there would leave.
class EndsAfter final : public SearchJournal {
 public:
  EndsAfter(SearchJournal& inner, int records) : inner_(inner), left_(records) {}

  Result<std::optional<MeasurementRecord>> baseline() override { return inner_.baseline(); }
  Status record_baseline(const MeasurementRecord& record) override {
    return ended() ? end() : inner_.record_baseline(record);
  }
  Result<std::optional<double>> issue(int ordinal) override { return inner_.issue(ordinal); }
  void record_issue(int ordinal, double fraction) override {
    inner_.record_issue(ordinal, fraction);
  }
  Result<std::optional<ExpansionRecord>> expansion(const Ticket& ticket,
                                                   const StepProposal& step) override {
    return inner_.expansion(ticket, step);
  }
  Status record_expansion(const Ticket& ticket, const ExpansionRecord& record,
                          bool durable) override {
    return ended() ? end() : inner_.record_expansion(ticket, record, durable);
  }
  Result<std::optional<MeasurementRecord>> measurement(const Ticket& ticket,
                                                       const Candidate& candidate) override {
    return inner_.measurement(ticket, candidate);
  }
  Status record_measurement(const Ticket& ticket, const MeasurementRecord& record) override {
    return ended() ? end() : inner_.record_measurement(ticket, record);
  }
  Result<std::optional<ConfirmationRecord>> confirmation(int ordinal, std::uint32_t state,
                                                         const EvaluationBudget& budget) override {
    return inner_.confirmation(ordinal, state, budget);
  }
  Status record_confirmation(int ordinal, const ConfirmationRecord& record) override {
    return ended() ? end() : inner_.record_confirmation(ordinal, record);
  }
  const JournalProgress& progress() const override { return inner_.progress(); }
  void advance(std::uint64_t commits, double seconds) override { inner_.advance(commits, seconds); }
  void note_new_step(int ordinal, const NewStepRecord& step) override {
    inner_.note_new_step(ordinal, step);
  }
  Status record_end(StopReason reason) override {
    return ended() ? end() : inner_.record_end(reason);
  }

 private:
  bool ended() { return left_-- <= 0; }
  static Status end() { return fail(ErrorCode::resource, "the disk is full"); }

  SearchJournal& inner_;
  int left_;
};

}  // namespace regraph::test
