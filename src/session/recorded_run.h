// A search whose every result is kept in a directory: it can be continued after it ended in any
// way, and read once it is over.
#pragma once

#include "search/run_database.h"
#include "session/session.h"

#include <memory>
#include <optional>
#include <string>

namespace regraph {

// Not thread-safe. One process at a time has a run open.
class RecordedRun {
 public:
  // Whether a run could be begun there, before any work is done for it; leaves nothing behind.
  // Errors as of begin().
  [[nodiscard]] static Result<void, SessionError> try_to_begin(const std::string& output);
  // Begins a run in a new directory, regraph-runs/KERNEL-N where `output` is empty. `jobs_chosen`:
  // whether config.jobs was asked for, or is the number of processors here. Errors: usage (the
  // directory is in use, or cannot be made or written to), internal. Then nothing is left behind.
  [[nodiscard]] static Result<std::unique_ptr<RecordedRun>, SessionError> begin(
      const Session& session, const SearchConfig& config, bool jobs_chosen,
      const std::string& output);
  // Opens the run in `directory`. Errors: usage (no run, another version's, damaged, in use),
  // internal.
  [[nodiscard]] static Result<std::unique_ptr<RecordedRun>, SessionError> open(
      const std::string& directory);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  // What it was begun with; Session::reopen takes it.
  [[nodiscard]] const RunDescription& description() const { return database_->description(); }
  // What a run that is over printed. Errors as those of search().
  [[nodiscard]] Result<std::optional<FinishedRun>, SessionError> finished();
  // The candidates judged so far, the original aside.
  [[nodiscard]] int evaluations();

  // Searches, or goes on searching, with every result kept. `request.journal` counts for nothing. A
  // run that was begun and failed for good leaves nothing behind. Errors: usage, unusable_kernel,
  // internal (the message says whether the run can be continued), interrupted.
  [[nodiscard]] Result<SearchResult, SessionError> search(Session& session, SearchRequest request);
  // Writes the run's files and, unless it was interrupted, that it is over and what it came to;
  // last its page. Returns a warning where the page alone could not be written, else nothing.
  // Error: internal; what was recorded until then is kept.
  [[nodiscard]] Result<std::string, SessionError> finish(const RunReport& report,
                                                         const FinishedRun& finished);
  // Removes what begin() made, for a run that ends without a result.
  void abandon();

 private:
  RecordedRun(std::string directory, std::unique_ptr<RunDatabase> database, bool begun)
      : directory_(std::move(directory)), database_(std::move(database)), begun_(begun) {}
  [[nodiscard]] SessionError explain(const Error& error) const;

  std::string directory_;
  std::unique_ptr<RunDatabase> database_;
  bool begun_;  // by this object
};

}  // namespace regraph
