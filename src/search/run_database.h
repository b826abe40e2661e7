// The database of a run, `run.db` in its directory: what it was started with and every result.
//
//   run           one row: what the run was started with, see RunDescription
//   baseline      one row: the original's evaluation
//   measurement   a row for each candidate that was judged, by ticket
//   expansion     a row for each step that was applied or refused, by ticket
//   issue         under a budget of seconds: its used share when an expansion was issued
//   confirmation  a row for each evaluation of the final selection
//   new_step      a row for each step that the graph does not know and somebody named
//   progress      one row: commits and seconds so far, and how the search ended
//   result        one row once the run is over: what was printed
//   blob          texts by the hash of their content: sources, manifest, graph
//
// SQLite in WAL mode with an fsync a transaction; every row carries a checksum. While a run is
// open, others may read the file.
#pragma once

#include "base/directory_lock.h"
#include "base/sqlite_table.h"
#include "search/journal.h"
#include "search/run_description.h"

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// What a finished run printed.
struct FinishedRun {
  int exit_code = 0;
  std::string directory;  // as it was named then
  std::string text;
  std::string json;
};

class RunDatabase final : public SearchJournal {
 public:
  static constexpr const char* kFileName = "run.db";
  static constexpr int kSchemaVersion = 5;

  // Makes the database of a new run in an existing directory and locks the directory. Errors:
  // invalid_argument when a run is in it already, resource when another process uses the directory
  // or no space is left, io. After an error no database is left behind.
  [[nodiscard]] static Result<std::unique_ptr<RunDatabase>> create(
      const std::filesystem::path& directory, const RunDescription& description);

  // Opens the database of an existing run. Errors: not_found (no such
  // directory, or no run in it), resource (another process uses it), unsupported (another schema
  // version, or a run that was stopped before it had begun), parse (damaged), io.
  [[nodiscard]] static Result<std::unique_ptr<RunDatabase>> open(
      const std::filesystem::path& directory);

  // Removes the database of a run that ended without anything worth keeping.
  static void remove(const std::filesystem::path& directory);

  [[nodiscard]] const RunDescription& description() const { return description_; }
  // The candidates judged so far, the baseline aside.
  [[nodiscard]] Result<std::int64_t> measurements();
  [[nodiscard]] Result<std::optional<FinishedRun>> finished();
  [[nodiscard]] Status record_finished(const FinishedRun& run);

  [[nodiscard]] Result<std::optional<MeasurementRecord>> baseline() override;
  [[nodiscard]] Status record_baseline(const MeasurementRecord& record) override;
  [[nodiscard]] Result<std::optional<double>> issue(int ordinal) override;
  void record_issue(int ordinal, double budget_fraction) override;
  [[nodiscard]] Result<std::optional<ExpansionRecord>> expansion(const Ticket& ticket,
                                                                 const StepProposal& step) override;
  [[nodiscard]] Status record_expansion(const Ticket& ticket, const ExpansionRecord& record,
                                        bool durable) override;
  [[nodiscard]] Result<std::optional<MeasurementRecord>> measurement(
      const Ticket& ticket, const Candidate& candidate) override;
  [[nodiscard]] Status record_measurement(const Ticket& ticket,
                                          const MeasurementRecord& record) override;
  [[nodiscard]] Result<std::optional<ConfirmationRecord>> confirmation(
      int ordinal, std::uint32_t state, const EvaluationBudget& budget) override;
  [[nodiscard]] Status record_confirmation(int ordinal, const ConfirmationRecord& record) override;
  void note_new_step(int ordinal, const NewStepRecord& step) override;
  // Those that were noted, in order. Error (parse): damaged.
  [[nodiscard]] Result<std::vector<NewStepRecord>> new_steps();
  [[nodiscard]] const JournalProgress& progress() const override { return opened_; }
  void advance(std::uint64_t commits, double seconds) override;
  [[nodiscard]] Status record_end(StopReason reason) override;

 private:
  RunDatabase(DirectoryLock lock, SqliteDatabase database);

  [[nodiscard]] std::array<SqliteTable*, 10> tables();
  [[nodiscard]] Status make_tables();
  [[nodiscard]] Status check_tables();
  [[nodiscard]] Status attach();
  [[nodiscard]] Status write_description(const RunDescription& description);
  [[nodiscard]] Status read_description();
  [[nodiscard]] Status read_progress();

  // Writes a row, and what waits for the next durable one, in one transaction.
  [[nodiscard]] Status commit(SqliteTable& table, const SqlRow& row,
                              const std::vector<std::string>& blobs);
  [[nodiscard]] Result<std::string> blob(const std::string& hash);
  [[nodiscard]] Error damaged(const std::string& what) const;
  [[nodiscard]] Error other_search(const std::string& what) const;

  struct Waiting {
    SqliteTable* table;
    SqlRow row;
    std::vector<std::string> blobs;
  };

  DirectoryLock lock_;  // first: released when the connection is closed
  SqliteDatabase database_;
  SqliteTable run_;
  SqliteTable baseline_;
  SqliteTable measurement_;
  SqliteTable expansion_;
  SqliteTable issue_;
  SqliteTable confirmation_;
  SqliteTable new_step_;
  SqliteTable progress_;
  SqliteTable result_;
  SqliteTable blob_;
  RunDescription description_;
  JournalProgress opened_;
  JournalProgress now_;
  std::vector<Waiting> waiting_;
};

}  // namespace regraph
