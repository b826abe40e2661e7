// Options that the command line left out, from the environment and from a settings file.
#pragma once

#include "base/result.h"

#include <map>
#include <string>
#include <vector>

namespace CLI {  // NOLINT(readability-identifier-naming)
class App;
class Option;
}  // namespace CLI

namespace regraph::cli {

// Where the value of an option came from, for --print-config: "flag", "REGRAPH_SEED",
// "regraph.yaml:3" or "default".
using Origins = std::map<const CLI::Option*, std::string>;

// Whether an option may be set outside the command line: not those that name the input or ask for
// something else than a search.
[[nodiscard]] bool is_setting(const CLI::Option& option);
// "--evaluation-time" -> "evaluation-time".
[[nodiscard]] std::string setting_name(const CLI::Option& option);
// "--evaluation-time" -> "REGRAPH_EVALUATION_TIME".
[[nodiscard]] std::string environment_name(const CLI::Option& option);

// Fills the settings that the parsed command line did not give: from the environment, else from
// `file` (YAML, one key an option; a missing file is fine unless `required`). Call after app.parse.
// Errors: invalid_argument and parse with "file:line: key: ..." or the variable's name.
[[nodiscard]] Result<Origins> complete_settings(CLI::App& app, const std::string& file,
                                                bool required);

// All settings as a settings file, with the origin of each as a comment.
[[nodiscard]] std::string settings_text(const CLI::App& app, const Origins& origins);

}  // namespace regraph::cli
