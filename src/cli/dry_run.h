// --dry-run: what a search would begin with.
#pragma once

#include "base/cancellation.h"
#include "cli/language_model_setup.h"
#include "cli/search_options.h"
#include "search/config.h"

#include <string>
#include <variant>

namespace regraph::cli {

// Evaluates the original, lists the steps by prior and, when a language model is to apply them,
// the prompts with what they would cost. Asks nobody and writes nothing but the cache. Returns the
// text for standard output, JSON if the options say so.
[[nodiscard]] std::variant<std::string, SetupFailure> dry_run(const SearchOptions& options,
                                                              const SearchConfig& config,
                                                              const LanguageModelPlace& place,
                                                              const Cancellation& cancellation);

}  // namespace regraph::cli
