// Command lines that name a program of the user's after "--".
#pragma once

#include <string>
#include <vector>

namespace regraph::cli {

// What follows "--", divided at each "--also --": the arguments of several runs. Takes it off
// `arguments`.
[[nodiscard]] std::vector<std::vector<std::string>> take_commands(
    std::vector<std::string>& arguments);

}  // namespace regraph::cli
