// Flags of the programs that concern the language model.
#pragma once

#include "session/language_model_options.h"

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace regraph::cli {

// Adds the flags to a command line, in a group of their own.
void add_language_model_options(CLI::App& app, LanguageModelOptions& options);

// Of these, what says which server is asked and how: for programs that ask it for others.
void add_model_server_options(CLI::App& app, LanguageModelOptions& options);

// Why the options do not go together, or nothing.
[[nodiscard]] std::string misuse(const LanguageModelOptions& options);

}  // namespace regraph::cli
