// The manual page and shell completions, generated from the parser, so that they cannot go stale.
#pragma once

#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
}

namespace regraph::cli {

// troff source for man(7), section 1. `version` and `footer` (examples, exit codes) come from the
// program.
[[nodiscard]] std::string man_page(const CLI::App& app, const std::string& version);

// A completion script for "bash", "zsh" or "fish"; empty for any other shell.
[[nodiscard]] std::string completion_script(const CLI::App& app, const std::string& shell);

}  // namespace regraph::cli
