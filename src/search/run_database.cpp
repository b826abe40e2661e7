// The run database as a file: making, opening, checking. What it records is in run_records.cpp.
#include "search/run_database.h"

#include "search/journal_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace regraph {

namespace {

using Type = SqlColumn::Type;

// "RGrf": tells `file` and others whose database this is.
constexpr std::int64_t kApplicationId = 0x52477266;

Result<std::int64_t> pragma(SqliteDatabase& database, const char* name) {
  Result<SqliteStatement> statement = database.prepare(std::string("PRAGMA ") + name);
  if (!statement) return statement.error();
  const Result<bool> row = statement->step();
  if (!row) return row.error();
  return *row ? statement->integer(0) : 0;
}

}  // namespace

RunDatabase::RunDatabase(DirectoryLock lock, SqliteDatabase database)
    : lock_(std::move(lock)),
      database_(std::move(database)),
      run_("run", {{"id", Type::integer},
                   {"tool_version", Type::text},
                   {"kernel", Type::text},
                   {"source_path", Type::text},
                   {"source", Type::text},
                   {"manifest", Type::text},
                   {"graph", Type::text},
                   {"policy", Type::text},
                   {"notes", Type::text},
                   {"configuration", Type::text},
                   {"device", Type::text},
                   {"seed", Type::integer},
                   {"jobs_chosen", Type::integer}}),
      baseline_("baseline",
                journal::with_evaluation({{"id", Type::integer}, {"proposals", Type::text}})),
      measurement_("measurement", journal::with_evaluation({{"ticket", Type::integer},
                                                            {"node", Type::integer},
                                                            {"parent", Type::integer},
                                                            {"step", Type::text},
                                                            {"parameters", Type::text},
                                                            {"variant", Type::integer},
                                                            {"identity", Type::text},
                                                            {"source", Type::text},
                                                            {"plan", Type::text},
                                                            {"assumptions", Type::text},
                                                            {"proposals", Type::text},
                                                            {"lost", Type::integer}})),
      expansion_("expansion", {{"ticket", Type::integer},
                               {"parent", Type::integer},
                               {"step", Type::text},
                               {"parameters", Type::text},
                               {"variant", Type::integer},
                               {"refusal", Type::text},
                               {"identity", Type::text},
                               {"source", Type::text},
                               {"plan", Type::text},
                               {"assumptions", Type::text}}),
      issue_("issue", {{"ordinal", Type::integer}, {"budget_fraction", Type::real}}),
      confirmation_("confirmation", journal::with_evaluation({{"ordinal", Type::integer},
                                                              {"state", Type::integer},
                                                              {"seed", Type::integer},
                                                              {"repetitions", Type::integer}})),
      new_step_("new_step", {{"ordinal", Type::integer},
                             {"step", Type::text},
                             {"title", Type::text},
                             {"reason", Type::text},
                             {"proposed", Type::integer},
                             {"tries", Type::integer},
                             {"verified", Type::integer},
                             {"best_log_gain", Type::real}}),
      progress_("progress", {{"id", Type::integer},
                             {"commits", Type::integer},
                             {"seconds", Type::real},
                             {"stopped", Type::text}}),
      result_("result", {{"id", Type::integer},
                         {"exit_code", Type::integer},
                         {"directory", Type::text},
                         {"text", Type::text},
                         {"json", Type::text}}),
      blob_("blob", {{"hash", Type::text}, {"content", Type::text}}) {}

Error RunDatabase::damaged(const std::string& what) const {
  return fail(ErrorCode::parse,
              fmt::format("'{}': {} is damaged", database_.path().string(), what));
}

Result<std::unique_ptr<RunDatabase>> RunDatabase::create(const std::filesystem::path& directory,
                                                         const RunDescription& description) {
  Result<DirectoryLock> lock = DirectoryLock::take(directory);
  if (!lock) return lock.error();
  const std::filesystem::path path = directory / kFileName;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("'{}' holds a run already; continue it with --resume {}",
                            directory.string(), directory.string()));
  }
  Result<SqliteDatabase> database = SqliteDatabase::open(path, SqliteDatabase::Mode::create);
  if (!database) return database.error();
  std::unique_ptr<RunDatabase> run(new RunDatabase(std::move(*lock), std::move(*database)));
  Status made = run->make_tables();
  if (made) made = run->write_description(description);
  if (!made) {
    run.reset();
    remove(directory);
    return made.error();
  }
  run->description_ = description;
  return run;
}

std::array<SqliteTable*, 10> RunDatabase::tables() {
  return {&run_,          &baseline_, &measurement_, &expansion_, &issue_,
          &confirmation_, &new_step_, &progress_,    &result_,    &blob_};
}

// One transaction makes a complete database of an empty file: a run that is killed in between left
// none.
Status RunDatabase::make_tables() {
  if (Status mode = database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
      !mode) {
    return mode;
  }
  std::string sql = fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};",
                                kApplicationId, kSchemaVersion);
  for (const SqliteTable* table : tables()) {
    sql += table->definition() + ";";
  }
  return database_.execute("BEGIN IMMEDIATE;" + sql);
}

Status RunDatabase::attach() {
  for (SqliteTable* table : tables()) {
    if (Status attached = table->attach(database_); !attached) return attached;
  }
  return {};
}

// Ends the transaction of make_tables.
Status RunDatabase::write_description(const RunDescription& description) {
  if (Status attached = attach(); !attached) return attached;
  const std::string* const texts[] = {&description.source, &description.manifest,
                                      &description.graph, &description.policy};
  std::array<std::string, 4> hashes;
  for (std::size_t index = 0; index < hashes.size(); ++index) {
    hashes[index] = hash_text(*texts[index]).hex();
    if (Status put = blob_.put({hashes[index], *texts[index]}); !put) return put;
  }
  Status put =
      run_.put({journal::kOnlyRow, description.tool_version, description.kernel,
                description.source_path, hashes[0], hashes[1], hashes[2], hashes[3],
                journal::texts_text(description.notes), config_text(description.config),
                description.config.device, static_cast<std::int64_t>(description.config.seed),
                std::int64_t{description.jobs_chosen ? 1 : 0}});
  if (!put) return put;
  return database_.execute("COMMIT");
}

Result<std::unique_ptr<RunDatabase>> RunDatabase::open(const std::filesystem::path& directory) {
  std::error_code ignored;
  const std::string shown = directory.string();
  if (!std::filesystem::is_directory(directory, ignored)) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' is no directory; name the directory of a run, as --output did or "
                            "as its result says",
                            shown));
  }
  const std::filesystem::path path = directory / kFileName;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return fail(ErrorCode::not_found,
                fmt::format("'{}' holds no run: there is no {} in it; name the directory of a run, "
                            "as --output did or as its result says",
                            shown, kFileName));
  }
  Result<DirectoryLock> lock = DirectoryLock::take(directory);
  if (!lock) {
    if (lock.error().code != ErrorCode::resource) return lock.error();
    return fail(ErrorCode::resource,
                fmt::format("the run in '{}' is in use by another process, which may still be "
                            "searching; wait for its end or stop it first",
                            shown));
  }
  Result<SqliteDatabase> database = SqliteDatabase::open(path, SqliteDatabase::Mode::existing);
  if (!database) return database.error();
  std::unique_ptr<RunDatabase> run(new RunDatabase(std::move(*lock), std::move(*database)));
  for (auto step : {&RunDatabase::check_tables, &RunDatabase::attach,
                    &RunDatabase::read_description, &RunDatabase::read_progress}) {
    if (Status status = (run.get()->*step)(); !status) return status.error();
  }
  return run;
}

// The file must be a whole database that this version made: its tables and nothing else.
Status RunDatabase::check_tables() {
  const std::string directory = database_.path().parent_path().string();
  const Result<std::int64_t> application = pragma(database_, "application_id");
  if (!application) return application.error();
  const Result<std::int64_t> version = pragma(database_, "user_version");
  if (!version) return version.error();
  Result<SqliteStatement> schema =
      database_.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid");
  if (!schema) return schema.error();
  std::vector<std::string> found;
  constexpr std::size_t kMostTables = 100;
  for (;;) {
    const Result<bool> row = schema->step();
    if (!row) return row.error();
    if (!*row) break;
    found.push_back(schema->text(0));
    if (found.size() > kMostTables) break;
  }
  if (*application == 0 && *version == 0 && found.empty()) {
    return fail(ErrorCode::unsupported,
                fmt::format("the run in '{}' was stopped before it had begun, so there is nothing "
                            "to continue; remove the directory and start again",
                            directory));
  }
  if (*application != kApplicationId) {
    return fail(ErrorCode::parse,
                fmt::format("'{}' is no run database", database_.path().string()));
  }
  if (*version != kSchemaVersion) {
    return fail(ErrorCode::unsupported,
                fmt::format("the run in '{}' was made by another version of this program (database "
                            "schema {}, this version reads {}); continue it with that version or "
                            "start it again with another --output",
                            directory, *version, kSchemaVersion));
  }
  std::vector<std::string> wanted;
  for (const SqliteTable* table : tables()) {
    wanted.push_back(table->definition());
  }
  if (found != wanted) return damaged("its schema");
  Result<SqliteStatement> check = database_.prepare("PRAGMA integrity_check(1)");
  if (!check) return check.error();
  const Result<bool> row = check->step();
  if (!row) return row.error();
  std::string verdict = *row ? check->text(0) : "";
  if (verdict != "ok") {
    std::ranges::replace(verdict, '\n', ' ');
    return damaged("the database (" + verdict + ")");
  }
  return database_.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
}

Status RunDatabase::read_description() {
  const Result<std::optional<SqlRow>> row = run_.find(journal::kOnlyRow);
  if (!row) return row.error();
  if (!*row) return damaged("the description of the run");
  const SqlRow& values = **row;
  std::string* const texts[] = {&description_.tool_version, &description_.kernel,
                                &description_.source_path,  &description_.source,
                                &description_.manifest,     &description_.graph,
                                &description_.policy};
  for (std::size_t index = 0; index < std::size(texts); ++index) {
    const std::string* value = journal::text_at(values, 1 + index);
    if (value == nullptr) return damaged("the description of the run");
    *texts[index] = *value;
  }
  for (std::string* reference :
       {&description_.source, &description_.manifest, &description_.graph, &description_.policy}) {
    Result<std::string> content = blob(*reference);
    if (!content) return content.error();
    *reference = std::move(*content);
  }
  const std::string* notes = journal::text_at(values, 8);
  const std::string* config = journal::text_at(values, 9);
  const auto jobs_chosen = journal::integer_at(values, 12);
  if (notes == nullptr || config == nullptr || !jobs_chosen) {
    return damaged("the description of the run");
  }
  std::optional<std::vector<std::string>> read_notes = journal::read_texts(*notes);
  std::optional<SearchConfig> configuration = read_config(*config);
  if (!read_notes || !configuration) return damaged("the configuration of the run");
  description_.notes = std::move(*read_notes);
  description_.config = std::move(*configuration);
  description_.jobs_chosen = *jobs_chosen != 0;
  return {};
}

Status RunDatabase::read_progress() {
  const Result<std::optional<SqlRow>> row = progress_.find(journal::kOnlyRow);
  if (!row) return row.error();
  if (!*row) return {};
  const auto commits = journal::integer_at(**row, 1);
  const auto seconds = journal::real_at(**row, 2);
  const std::string* stopped = journal::text_at(**row, 3);
  if (!commits || *commits < 0 || !seconds || !(*seconds >= 0.0) || stopped == nullptr) {
    return damaged("the progress of the run");
  }
  const Result<std::int64_t> applied = expansion_.count();
  const Result<std::int64_t> judged = measurement_.count();
  if (!applied) return applied.error();
  if (!judged) return judged.error();
  if (*commits > *applied + *judged) return damaged("the progress of the run");
  opened_.commits = static_cast<std::uint64_t>(*commits);
  opened_.seconds = *seconds;
  for (const StopReason reason :
       {StopReason::budget, StopReason::exhausted, StopReason::workers_lost}) {
    if (*stopped == name(reason)) opened_.end = reason;
  }
  if (!stopped->empty() && !opened_.end) return damaged("the progress of the run");
  now_ = opened_;
  return {};
}

void RunDatabase::remove(const std::filesystem::path& directory) {
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
    std::filesystem::remove(directory / (std::string(kFileName) + suffix), ignored);
  }
}

}  // namespace regraph
