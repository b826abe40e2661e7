// A journal that keeps nothing: for searches that nobody will continue.
#pragma once

#include "search/journal.h"

namespace regraph {

class NullJournal final : public SearchJournal {
 public:
  Result<std::optional<MeasurementRecord>> baseline() override {
    return std::optional<MeasurementRecord>();
  }
  Status record_baseline(const MeasurementRecord&) override { return {}; }
  Result<std::optional<double>> issue(int) override { return std::optional<double>(); }
  void record_issue(int, double) override {}
  Result<std::optional<ExpansionRecord>> expansion(const Ticket&, const StepProposal&) override {
    return std::optional<ExpansionRecord>();
  }
  Status record_expansion(const Ticket&, const ExpansionRecord&, bool) override { return {}; }
  Result<std::optional<MeasurementRecord>> measurement(const Ticket&, const Candidate&) override {
    return std::optional<MeasurementRecord>();
  }
  Status record_measurement(const Ticket&, const MeasurementRecord&) override { return {}; }
  Result<std::optional<ConfirmationRecord>> confirmation(int, std::uint32_t,
                                                         const EvaluationBudget&) override {
    return std::optional<ConfirmationRecord>();
  }
  Status record_confirmation(int, const ConfirmationRecord&) override { return {}; }
  void note_new_step(int, const NewStepRecord&) override {}
  const JournalProgress& progress() const override { return nothing_; }
  void advance(std::uint64_t, double) override {}
  Status record_end(StopReason) override { return {}; }

 private:
  JournalProgress nothing_;
};

}  // namespace regraph
