// --dry-run: what a search would begin with.
#pragma once

#include "cli/program.h"
#include "cli/search_options.h"
#include "search/config.h"
#include "session/session.h"

#include <string>

namespace regraph::cli {

// Evaluates the original, lists the steps by prior and, when a language model is to apply them,
// the prompts with what they would cost. Asks nobody and writes nothing but the cache. Returns the
// text for standard output, JSON if the options say so.
[[nodiscard]] Result<std::string, SessionError> dry_run(Session& session,
                                                        const SearchOptions& options,
                                                        const SearchConfig& config,
                                                        const Cancellation& cancellation);

}  // namespace regraph::cli
