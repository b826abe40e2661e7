#include "cli/program_commands.h"

#include <algorithm>

namespace regraph::cli {

std::vector<std::vector<std::string>> take_commands(std::vector<std::string>& arguments) {
  std::vector<std::vector<std::string>> commands;
  const auto begin = std::ranges::find(arguments, "--");
  if (begin == arguments.end()) return commands;
  commands.emplace_back();
  for (auto one = begin + 1; one != arguments.end(); ++one) {
    if (*one == "--also" && one + 1 != arguments.end() && *(one + 1) == "--") {
      commands.emplace_back();
      ++one;
    } else {
      commands.back().push_back(*one);
    }
  }
  arguments.erase(begin, arguments.end());
  return commands;
}

}  // namespace regraph::cli
