// What the run database records and recalls.
#include "search/journal_rows.h"
#include "search/run_database.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph {

namespace {

std::int64_t key_of(const Ticket& ticket) {
  return static_cast<std::int64_t>(ticket.number);
}

// The part of a row that says which step a ticket stands for.
SqlRow step_row(const Ticket& ticket, const StepProposal& step) {
  return {std::int64_t{ticket.parent}, step.step, journal::parameters_text(step.parameters),
          std::int64_t{ticket.variant}};
}

bool same_step(const SqlRow& row, std::size_t at, const Ticket& ticket, const StepProposal& step) {
  const SqlRow wanted = step_row(ticket, step);
  return row.size() >= at + wanted.size() &&
         std::equal(wanted.begin(), wanted.end(), row.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

Error RunDatabase::other_search(const std::string& what) const {
  return fail(ErrorCode::parse,
              fmt::format("'{}': {} is not what this program does now, so another version of it "
                          "made the run",
                          database_.path().string(), what));
}

Status RunDatabase::commit(SqliteTable& table, const SqlRow& row,
                           const std::vector<std::string>& blobs) {
  Result<SqliteTransaction> transaction = SqliteTransaction::begin(database_);
  if (!transaction) return transaction.error();
  const auto put = [&](SqliteTable& to, const SqlRow& values,
                       const std::vector<std::string>& contents) {
    for (const std::string& content : contents) {
      if (Status stored = blob_.put({hash_text(content).hex(), content}); !stored) return stored;
    }
    return to.put(values);
  };
  for (const Waiting& one : waiting_) {
    if (Status written = put(*one.table, one.row, one.blobs); !written) return written;
  }
  if (Status written = put(table, row, blobs); !written) return written;
  Status written = progress_.put({journal::kOnlyRow, static_cast<std::int64_t>(now_.commits),
                                  now_.seconds, std::string(now_.end ? name(*now_.end) : "")});
  if (!written) return written;
  if (Status committed = transaction->commit(); !committed) return committed;
  waiting_.clear();
  return {};
}

Result<std::string> RunDatabase::blob(const std::string& hash) {
  const Result<std::optional<SqlRow>> row = blob_.find(hash);
  if (!row) return row.error();
  const std::string* content = *row ? journal::text_at(**row, 1) : nullptr;
  if (content == nullptr || hash_text(*content).hex() != hash) return damaged("text " + hash);
  return *content;
}

Result<std::int64_t> RunDatabase::measurements() {
  return measurement_.count();
}

Result<std::optional<FinishedRun>> RunDatabase::finished() {
  const Result<std::optional<SqlRow>> row = result_.find(journal::kOnlyRow);
  if (!row) return row.error();
  if (!*row) return std::optional<FinishedRun>();
  const auto exit_code = journal::integer_at(**row, 1);
  const std::string* directory = journal::text_at(**row, 2);
  const std::string* text = journal::text_at(**row, 3);
  const std::string* json = journal::text_at(**row, 4);
  const bool whole = exit_code && *exit_code >= 0 && *exit_code <= 255 && directory && text && json;
  if (!whole) return damaged("the result of the run");
  return std::optional(FinishedRun{static_cast<int>(*exit_code), *directory, *text, *json});
}

Status RunDatabase::record_finished(const FinishedRun& run) {
  return commit(result_,
                {journal::kOnlyRow, std::int64_t{run.exit_code}, run.directory, run.text, run.json},
                {});
}

Result<std::optional<MeasurementRecord>> RunDatabase::baseline() {
  const Result<std::optional<SqlRow>> row = baseline_.find(journal::kOnlyRow);
  if (!row) return row.error();
  if (!*row) return std::optional<MeasurementRecord>();
  const std::string* proposals = journal::text_at(**row, 1);
  auto evaluation = journal::read_evaluation(**row, 2);
  auto read = proposals ? journal::read_proposals(*proposals) : std::nullopt;
  if (!evaluation || !read) return damaged("the evaluation of the original");
  MeasurementRecord record;
  record.evaluation = std::move(*evaluation);
  record.proposals = std::move(*read);
  return std::optional(std::move(record));
}

Status RunDatabase::record_baseline(const MeasurementRecord& record) {
  SqlRow row = {journal::kOnlyRow, journal::proposals_text(record.proposals)};
  journal::append(record.evaluation, row);
  return commit(baseline_, row, {});
}

Result<std::optional<double>> RunDatabase::issue(int ordinal) {
  const Result<std::optional<SqlRow>> row = issue_.find(std::int64_t{ordinal});
  if (!row) return row.error();
  if (!*row) return std::optional<double>();
  const auto fraction = journal::real_at(**row, 1);
  if (!fraction) return damaged(fmt::format("issue {}", ordinal));
  return fraction;
}

void RunDatabase::record_issue(int ordinal, double budget_fraction) {
  waiting_.push_back({&issue_, {std::int64_t{ordinal}, budget_fraction}, {}});
}

Result<std::optional<ExpansionRecord>> RunDatabase::expansion(const Ticket& ticket,
                                                              const StepProposal& step) {
  const Result<std::optional<SqlRow>> row = expansion_.find(key_of(ticket));
  if (!row) return row.error();
  if (!*row) return std::optional<ExpansionRecord>();
  const SqlRow& values = **row;
  const std::string what = fmt::format("expansion {}", ticket.number);
  if (!same_step(values, 1, ticket, step)) return other_search(what);
  ExpansionRecord record;
  record.step = step;
  const std::string* refusal = journal::text_at(values, 5);
  const std::string* identity = journal::text_at(values, 6);
  const std::string* source = journal::text_at(values, 7);
  const std::string* plan = journal::text_at(values, 8);
  const std::string* assumptions = journal::text_at(values, 9);
  if (!refusal || !identity || !source || !plan || !assumptions) return damaged(what);
  const std::size_t end = std::min(refusal->find('\n'), refusal->size());
  record.refusal = refusal->substr(0, end);
  if (end < refusal->size()) record.message = refusal->substr(end + 1);
  if (!refusal->empty()) return std::optional(std::move(record));
  auto child = std::make_shared<Candidate>();
  const std::optional<Hash128> hash = journal::read_hash(*identity);
  std::optional<LaunchPlan> read_plan = journal::read_plan(*plan);
  std::optional<std::vector<std::string>> texts = journal::read_texts(*assumptions);
  if (!hash || !read_plan || !texts) return damaged(what);
  Result<std::string> content = blob(*source);
  if (!content) return content.error();
  child->identity = *hash;
  child->plan = std::move(*read_plan);
  child->assumptions = std::move(*texts);
  child->source = std::move(*content);
  record.child = std::move(child);
  return std::optional(std::move(record));
}

Status RunDatabase::record_expansion(const Ticket& ticket, const ExpansionRecord& record,
                                     bool durable) {
  SqlRow row = {key_of(ticket)};
  for (SqlValue& value : step_row(ticket, record.step))
    row.push_back(std::move(value));
  std::vector<std::string> blobs;
  row.emplace_back(record.message.empty() ? record.refusal
                                          : record.refusal + "\n" + record.message);
  if (record.child != nullptr) {
    const Candidate& child = *record.child;
    row.emplace_back(child.identity.hex());
    row.emplace_back(hash_text(child.source).hex());
    row.emplace_back(journal::plan_text(child.plan));
    row.emplace_back(journal::texts_text(child.assumptions));
    blobs.push_back(child.source);
  } else {
    for (int column = 0; column < 4; ++column)
      row.emplace_back(std::string());
  }
  if (durable) return commit(expansion_, row, blobs);
  waiting_.push_back({&expansion_, std::move(row), std::move(blobs)});
  return {};
}

Result<std::optional<MeasurementRecord>> RunDatabase::measurement(const Ticket& ticket,
                                                                  const Candidate& candidate) {
  const Result<std::optional<SqlRow>> row = measurement_.find(key_of(ticket));
  if (!row) return row.error();
  if (!*row) return std::optional<MeasurementRecord>();
  const SqlRow& values = **row;
  const std::string what = fmt::format("measurement {}", ticket.number);
  const std::string* identity = journal::text_at(values, 6);
  const std::string* proposals = journal::text_at(values, 10);
  const auto lost = journal::integer_at(values, 11);
  auto evaluation = journal::read_evaluation(values, 12);
  auto read = proposals ? journal::read_proposals(*proposals) : std::nullopt;
  if (!identity || !lost || !evaluation || !read) return damaged(what);
  if (*identity != candidate.identity.hex()) return other_search(what);
  MeasurementRecord record;
  record.evaluation = std::move(*evaluation);
  record.proposals = std::move(*read);
  record.lost = *lost != 0;
  return std::optional(std::move(record));
}

Status RunDatabase::record_measurement(const Ticket& ticket, const MeasurementRecord& record) {
  SqlRow row = {key_of(ticket), std::int64_t{ticket.node}};
  for (SqlValue& value : step_row(ticket, record.step))
    row.push_back(std::move(value));
  const Candidate& candidate = *record.candidate;
  row.emplace_back(candidate.identity.hex());
  row.emplace_back(hash_text(candidate.source).hex());
  row.emplace_back(journal::plan_text(candidate.plan));
  row.emplace_back(journal::texts_text(candidate.assumptions));
  row.emplace_back(journal::proposals_text(record.proposals));
  row.emplace_back(std::int64_t{record.lost ? 1 : 0});
  journal::append(record.evaluation, row);
  return commit(measurement_, row, {candidate.source});
}

Result<std::optional<ConfirmationRecord>> RunDatabase::confirmation(
    int ordinal, std::uint32_t state, const EvaluationBudget& budget) {
  const Result<std::optional<SqlRow>> row = confirmation_.find(std::int64_t{ordinal});
  if (!row) return row.error();
  if (!*row) return std::optional<ConfirmationRecord>();
  const SqlRow& values = **row;
  const std::string what = fmt::format("confirmation {}", ordinal);
  const SqlRow wanted = {std::int64_t{ordinal}, std::int64_t{state},
                         static_cast<std::int64_t>(budget.seed), std::int64_t{budget.repetitions}};
  auto evaluation = journal::read_evaluation(values, wanted.size());
  if (!evaluation) return damaged(what);
  if (!std::equal(wanted.begin(), wanted.end(), values.begin())) return other_search(what);
  return std::optional(ConfirmationRecord{state, budget, std::move(*evaluation)});
}

Status RunDatabase::record_confirmation(int ordinal, const ConfirmationRecord& record) {
  SqlRow row = {std::int64_t{ordinal}, std::int64_t{record.state},
                static_cast<std::int64_t>(record.budget.seed),
                std::int64_t{record.budget.repetitions}};
  journal::append(record.evaluation, row);
  return commit(confirmation_, row, {});
}

void RunDatabase::note_new_step(int ordinal, const NewStepRecord& step) {
  waiting_.push_back(
      {&new_step_,
       {std::int64_t{ordinal}, step.id, step.title, step.reason, std::int64_t{step.proposed},
        std::int64_t{step.tries}, std::int64_t{step.verified}, step.best_log_gain},
       {}});
}

Result<std::vector<NewStepRecord>> RunDatabase::new_steps() {
  const Result<std::int64_t> count = new_step_.count();
  if (!count) return count.error();
  std::vector<NewStepRecord> steps;
  for (std::int64_t ordinal = 0; ordinal < *count; ++ordinal) {
    const Result<std::optional<SqlRow>> row = new_step_.find(ordinal);
    if (!row) return row.error();
    const std::string what = fmt::format("new step {}", ordinal);
    if (!*row) return damaged(what);
    const SqlRow& values = **row;
    const std::string* const texts[] = {journal::text_at(values, 1), journal::text_at(values, 2),
                                        journal::text_at(values, 3)};
    const auto proposed = journal::integer_at(values, 4);
    const auto tries = journal::integer_at(values, 5);
    const auto verified = journal::integer_at(values, 6);
    const auto gain = journal::real_at(values, 7);
    if (!texts[0] || !texts[1] || !texts[2] || !proposed || !tries || !verified || !gain)
      return damaged(what);
    steps.push_back({*texts[0], *texts[1], *texts[2], static_cast<int>(*proposed),
                     static_cast<int>(*tries), static_cast<int>(*verified), *gain});
  }
  return steps;
}

void RunDatabase::advance(std::uint64_t commits, double seconds) {
  now_.commits = std::max(now_.commits, commits);
  now_.seconds = std::max(now_.seconds, seconds);
}

Status RunDatabase::record_end(StopReason reason) {
  now_.end = reason;
  // The progress row itself is all there is to write.
  return commit(progress_,
                {journal::kOnlyRow, static_cast<std::int64_t>(now_.commits), now_.seconds,
                 std::string(name(reason))},
                {});
}

}  // namespace regraph
