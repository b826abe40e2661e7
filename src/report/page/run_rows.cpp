#include "report/page/run_rows.h"

#include "base/sqlite.h"
#include "base/sqlite_table.h"
#include "search/journal_rows.h"

#include <fmt/format.h>

#include <cmath>
#include <functional>
#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>

namespace regraph {
namespace {

// "RGrf", as the run database is marked.
constexpr std::int64_t kApplicationId = 0x52477266;

using Columns = std::vector<std::string>;

// Calls `row` with each row of the table, in the order of its key. A column that this database does
// not have is null; a table that it does not have, has no rows.
Status each_row(SqliteDatabase& database, const std::string& table, const Columns& columns,
                const std::function<Status(const SqliteStatement&)>& row) {
  auto description = database.prepare("SELECT name FROM pragma_table_info('" + table + "')");
  if (!description) return description.error();
  std::vector<std::string> known;
  for (;;) {
    const Result<bool> more = description->step();
    if (!more) return more.error();
    if (!*more) break;
    known.push_back(description->text(0));
  }
  if (known.empty()) return {};
  const std::set<std::string> names(known.begin(), known.end());
  std::string list;
  for (const std::string& column : columns)
    list += (list.empty() ? "" : ", ") + (names.contains(column) ? column : "NULL");
  auto rows = database.prepare(fmt::format("SELECT {} FROM {} ORDER BY {}", list, table, known[0]));
  if (!rows) return rows.error();
  for (;;) {
    const Result<bool> more = rows->step();
    if (!more) return more.error();
    if (!*more) return {};
    if (Status status = row(*rows); !status) return status;
  }
}

std::optional<double> seconds_at(const SqliteStatement& row, int column) {
  if (!row.is_number(column)) return std::nullopt;
  const double value = row.real(column);
  return std::isfinite(value) && value > 0.0 ? std::optional(value) : std::nullopt;
}

// What cannot be read is left as it is: it is there to be looked at, nothing depends on it.
std::string step_text(const std::string& step, const std::string& parameters) {
  const auto read = journal::read_parameters(parameters);
  StepProposal proposal;
  proposal.step = step;
  if (read) proposal.parameters = *read;
  return proposal.text();
}

std::string launch_text(const std::string& plan) {
  const auto read = journal::read_plan(plan);
  if (!read) return "";
  std::string text;
  for (const Launch& launch : read->launches) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{}: block {} x {} x {}, grid {} x {} x {}", launch.kernel,
                        launch.block_extent(0).text(), launch.block_extent(1).text(),
                        launch.block_extent(2).text(), launch.grid[0].text(), launch.grid[1].text(),
                        launch.grid[2].text());
    if (const std::string shared = launch.dynamic_shared_bytes.text(); shared != "0")
      text += ", dynamic shared memory " + shared + " bytes";
  }
  return text;
}

std::string joined(const std::string& texts) {
  const auto read = journal::read_texts(texts);
  if (!read) return "";
  return fmt::format("{}", fmt::join(*read, "; "));
}

// Messages of these verdicts come from compilers and limits. Others name values of outputs, which
// are the user's data where the problem was captured.
bool is_free_of_data(std::string_view verdict) {
  return verdict == "compile_error" || verdict == "launch_error" || verdict == "unsupported";
}

class RowReader {
 public:
  RowReader(SqliteDatabase& database, RunFiles& files) : database_(database), files_(files) {}

  Status read() {
    if (Status unchanged = check_rows(); !unchanged) return unchanged;
    for (auto part : {&RowReader::read_run, &RowReader::read_baseline, &RowReader::read_states,
                      &RowReader::read_attempts, &RowReader::read_end, &RowReader::read_sources}) {
      if (Status status = (this->*part)(); !status) return status;
    }
    return {};
  }

 private:
  // Every row carries a checksum (search/run_database.h): a page is evidence, so what somebody
  // changed is not shown.
  Status check_rows() {
    for (const char* table : {"run", "baseline", "measurement", "expansion", "issue",
                              "confirmation", "new_step", "progress", "result", "blob"}) {
      const auto changed = find_changed_row(database_, table);
      if (!changed) return changed.error();
      if (!*changed) continue;
      return fail(ErrorCode::parse,
                  fmt::format("'{}': row {} of table {} is not as the run wrote it: it was changed "
                              "or is damaged, so no report is made of this run; run the search "
                              "again",
                              database_.path().string(), **changed, table));
    }
    return {};
  }

  Status read_run() {
    Status status = each_row(
        database_, "run", {"tool_version", "kernel", "source_path", "device", "source", "manifest"},
        [&](const SqliteStatement& row) -> Status {
          files_.tool_version = row.text(0);
          files_.kernel = row.text(1);
          files_.source_path = row.text(2);
          files_.device = row.text(3);
          original_hash_ = row.text(4);
          manifest_hash_ = row.text(5);
          return {};
        });
    if (!status) return status;
    Result<std::string> original = blob(original_hash_);
    if (!original) return original.error();
    files_.original = std::move(*original);
    Result<std::string> manifest = blob(manifest_hash_);
    if (!manifest) return manifest.error();
    files_.captured = ("\n" + *manifest).find("\ncaptured:") != std::string::npos;
    return {};
  }

  static Columns with_evaluation(Columns columns) {
    for (const char* column :
         {"verdict", "message", "median_seconds", "low_seconds", "high_seconds", "method",
          "samples", "bottleneck", "registers_per_thread", "spill_store_bytes", "spill_load_bytes",
          "static_shared_bytes"}) {
      columns.emplace_back(column);
    }
    return columns;
  }

  // The columns of with_evaluation, from `at`.
  PageState evaluated(const SqliteStatement& row, int at) const {
    PageState state;
    state.verdict = row.text(at);
    if (!files_.captured || is_free_of_data(state.verdict)) state.message = row.text(at + 1);
    if (state.verdict == "correct") {
      state.seconds = seconds_at(row, at + 2);
      state.low_seconds = seconds_at(row, at + 3);
      state.high_seconds = seconds_at(row, at + 4);
    }
    state.method = row.text(at + 5);
    state.samples = row.integer(at + 6);
    state.bottleneck = row.text(at + 7);
    state.registers_per_thread = row.integer(at + 8);
    state.spill_bytes = row.integer(at + 9) + row.integer(at + 10);
    state.shared_bytes = row.integer(at + 11);
    return state;
  }

  Status read_baseline() {
    return each_row(database_, "baseline", with_evaluation({}),
                    [&](const SqliteStatement& row) -> Status {
                      PageState state = evaluated(row, 0);
                      state.source_hash = original_hash_;
                      if (files_.states.empty()) files_.states.push_back(std::move(state));
                      return {};
                    });
  }

  Status read_states() {
    std::set<std::int64_t> known = {0};
    return each_row(database_, "measurement",
                    with_evaluation({"node", "parent", "step", "parameters", "plan", "assumptions",
                                     "identity", "source"}),
                    [&](const SqliteStatement& row) -> Status {
                      const std::int64_t id = row.integer(0);
                      if (!known.insert(id).second) return {};
                      if (static_cast<std::int64_t>(files_.states.size()) >= kMostPageStates) {
                        ++files_.states_left_out;
                        return {};
                      }
                      PageState state = evaluated(row, 8);
                      state.id = id;
                      if (!row.is_null(1)) state.parent = row.integer(1);
                      state.step = step_text(row.text(2), row.text(3));
                      state.launch = launch_text(row.text(4));
                      state.assumptions = joined(row.text(5));
                      state.identity = row.text(6);
                      state.source_hash = row.text(7);
                      files_.states.push_back(std::move(state));
                      return {};
                    });
  }

  Status read_attempts() {
    return each_row(
        database_, "expansion", {"parent", "step", "parameters", "refusal", "identity"},
        [&](const SqliteStatement& row) -> Status {
          files_.attempts.push_back(
              {row.integer(0), step_text(row.text(1), row.text(2)), row.text(3), row.text(4)});
          return {};
        });
  }

  Status read_end() {
    Status status =
        each_row(database_, "progress", {"stopped"}, [&](const SqliteStatement& row) -> Status {
          files_.stopped = row.text(0);
          return {};
        });
    if (!status || !files_.result.empty()) return status;
    return each_row(database_, "result", {"json"}, [&](const SqliteStatement& row) -> Status {
      files_.result = row.text(0);
      return {};
    });
  }

  Status read_sources() {
    for (const PageState& state : files_.states) {
      Result<std::string> source = blob(state.source_hash);
      if (!source) return source.error();
      files_.sources.push_back(std::move(*source));
    }
    return {};
  }

  // Empty where there is no such text.
  Result<std::string> blob(const std::string& hash) {
    if (!blob_) {
      auto statement = database_.prepare("SELECT content FROM blob WHERE hash = ?1");
      if (!statement) return statement.error();
      blob_ = std::move(*statement);
    }
    blob_->bind(1, std::string_view(hash));
    const Result<bool> found = blob_->step();
    if (!found) return found.error();
    std::string content = *found ? blob_->text(0) : std::string();
    blob_->reset();
    return content;
  }

  SqliteDatabase& database_;
  RunFiles& files_;
  std::string original_hash_;
  std::string manifest_hash_;
  std::optional<SqliteStatement> blob_;
};

Result<bool> is_run_database(SqliteDatabase& database) {
  auto statement = database.prepare("PRAGMA application_id");
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row && statement->integer(0) == kApplicationId;
}

}  // namespace

Status read_run_rows(const std::filesystem::path& path, RunFiles& files) {
  auto database = SqliteDatabase::open(path, SqliteDatabase::Mode::read_only);
  if (!database) return database.error();
  // A search that goes on changes nothing between the tables.
  if (Status begun = database->execute("BEGIN"); !begun) return begun;
  const Result<bool> is_run = is_run_database(*database);
  if (!is_run) return is_run.error();
  if (!*is_run)
    return fail(ErrorCode::parse, fmt::format("'{}' is no run database", path.string()));
  Status read = RowReader(*database, files).read();
  // SQL that does not fit the tables: not our mistake, as another program made them.
  if (!read && read.error().code == ErrorCode::internal)
    return fail(ErrorCode::parse, read.error().message);
  return read;
}

}  // namespace regraph
