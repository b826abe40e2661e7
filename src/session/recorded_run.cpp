#include "session/recorded_run.h"

#include "kernel/manifest.h"
#include "regraph/regraph_yaml.h"
#include "report/page/page.h"
#include "report/run_directory.h"
#include "session/session_policy.h"

#include <utility>

namespace regraph {

namespace {

RunDescription describe(const Session& session, const SearchConfig& config, bool jobs_chosen) {
  const Problem& problem = session.problem();
  RunDescription description;
  description.tool_version = REGRAPH_VERSION;
  description.kernel = problem.signature.name;
  description.source_path = problem.source_path;
  description.source = problem.source;
  description.manifest = write_manifest(problem, problem.launch);
  description.graph = regraph_text(session.graph());
  description.policy = hexadecimal(session.policy());
  description.notes = problem.notes;
  description.config = config;
  description.jobs_chosen = jobs_chosen;
  return description;
}

SessionError cannot_begin(const Error& error) {
  const bool asked = error.code == ErrorCode::invalid_argument;
  return {asked ? FailureCause::usage : FailureCause::internal, error.message};
}

}  // namespace

Result<void, SessionError> RecordedRun::try_to_begin(const std::string& output) {
  if (Status possible = try_run_directory(output); !possible) return cannot_begin(possible.error());
  return {};
}

Result<std::unique_ptr<RecordedRun>, SessionError> RecordedRun::begin(const Session& session,
                                                                      const SearchConfig& config,
                                                                      bool jobs_chosen,
                                                                      const std::string& output) {
  auto directory = create_run_directory(output, session.problem().signature.name);
  if (!directory) return cannot_begin(directory.error());
  auto database = RunDatabase::create(*directory, describe(session, config, jobs_chosen));
  if (!database) {
    abandon_run_directory(*directory);
    return cannot_begin(database.error());
  }
  return std::unique_ptr<RecordedRun>(
      new RecordedRun(directory->string(), std::move(*database), true));
}

Result<std::unique_ptr<RecordedRun>, SessionError> RecordedRun::open(const std::string& directory) {
  auto database = RunDatabase::open(directory);
  std::unique_ptr<RecordedRun> run(new RecordedRun(directory, nullptr, false));
  if (!database && database.error().code == ErrorCode::parse) return run->explain(database.error());
  if (!database) return session_error(std::move(database).error());
  run->database_ = std::move(*database);
  return run;
}

Result<std::optional<FinishedRun>, SessionError> RecordedRun::finished() {
  auto finished = database_->finished();
  if (!finished) return explain(finished.error());
  return std::move(*finished);
}

int RecordedRun::evaluations() {
  const auto known = database_->measurements();
  return known ? static_cast<int>(*known) : 0;
}

Result<SearchResult, SessionError> RecordedRun::search(Session& session, SearchRequest request) {
  request.journal = database_.get();
  auto result = session.search(request);
  if (result) return std::move(*result);
  // Nothing was recorded, or nothing that would end differently the next time.
  if (begun_ && result.error().code != ErrorCode::io) abandon();
  return explain(result.error());
}

Result<std::string, SessionError> RecordedRun::finish(const RunReport& report,
                                                      const FinishedRun& finished) {
  Status kept = write_run_directory(report);
  const bool over = report.outcome.stopped != StopReason::cancelled;
  if (kept && over) kept = database_->record_finished(finished);
  if (!kept) return explain({ErrorCode::io, kept.error().message});
  // Last: it shows what the directory then holds. The answer does not hang on it.
  const Status page = write_page(directory_);
  if (page) return std::string();
  return "the page of the run is missing: " + page.error().message +
         "; everything else is written, and once the cause is removed 'regraph-search --report " +
         directory_ + "' makes it";
}

void RecordedRun::abandon() {
  database_.reset();
  RunDatabase::remove(directory_);
  abandon_run_directory(directory_);
}

SessionError RecordedRun::explain(const Error& error) const {
  switch (error.code) {
    case ErrorCode::cancelled:
      return {FailureCause::interrupted, "interrupted"};
    case ErrorCode::internal:
      return {FailureCause::internal, error.message};
    case ErrorCode::io:
      return {FailureCause::internal,
              error.message +
                  "; what was recorded until then is kept: once the cause is removed, "
                  "continue with --resume " +
                  directory_};
    case ErrorCode::parse:
      return usage(error.message + "; the run in '" + directory_ +
                   "' cannot be continued: start it again with another --output");
    default:
      return {FailureCause::unusable_kernel, error.message};
  }
}

}  // namespace regraph
