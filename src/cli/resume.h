// Continuing a run from its directory alone: the inputs are restored from its database and read
// anew, so that everything behind them is what it was.
#pragma once

#include "base/cancellation.h"
#include "cli/search_options.h"
#include "cli/search_setup.h"
#include "search/run_database.h"

#include <memory>
#include <string>
#include <variant>

namespace regraph::cli {

// What a run is started with, for its database. `jobs_chosen`: --jobs was given.
[[nodiscard]] RunDescription describe_run(const SearchSetup& setup, const SearchConfig& config,
                                          bool jobs_chosen);

// Opens the run in `directory`. The failure is a usage error, except where the system failed.
[[nodiscard]] std::variant<std::unique_ptr<RunDatabase>, SetupFailure> open_run(
    const std::string& directory);

// As set_up_search, from what the run was started with instead of files and flags. Messages name
// the file as it was named then.
[[nodiscard]] std::variant<std::unique_ptr<SearchSetup>, SetupFailure> set_up_again(
    const RunDescription& description, const std::string& program,
    const Cancellation& cancellation);

// What to say about an error of a search that keeps its results in `directory`, and the exit code.
[[nodiscard]] SetupFailure explain(const Error& error, const std::string& directory);

}  // namespace regraph::cli
