#include "session/initial_manifest.h"

#include "kernel/manifest.h"
#include "session/opened_problem.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

namespace regraph {
namespace {

// With the template's instance for a name: the file may launch several.
Problem with_instance(const OpenedProblem& opened) {
  Problem problem = opened.problem;
  const bool launched_alone =
      problem.launch.launches.size() == 1 && problem.launch.launches.front().arguments.empty();
  if (!opened.template_arguments.empty() && launched_alone)
    problem.signature.name += fmt::format("<{}>", fmt::join(opened.template_arguments, ", "));
  return problem;
}

}  // namespace

std::string initial_manifest(const OpenedProblem& opened) {
  const Problem& problem = opened.problem;
  std::string text = fmt::format("# Problem of {}\n", problem.source_path);
  for (const std::string& missing : opened.to_fill_in)
    text += "# FILL IN " + missing + "\n";
  for (const std::string& note : problem.notes)
    text += "# assumed: " + note + "\n";
  if (!opened.opaque_reason.empty()) {
    std::string reason = opened.opaque_reason;
    std::replace(reason.begin(), reason.end(), '\n', ' ');
    text += "# the built-in rewriter cannot work on this kernel: " + reason + "\n";
  }
  if (opened.triton) {
    text += fmt::format("# These lines belong at the begin of {}, completed:\n#\n",
                        problem.source_path);
    const std::string whole = opened.triton->text();
    std::istringstream lines(whole.substr(0, whole.find("\n\n")));
    for (std::string line; std::getline(lines, line);)
      text += "# " + line + "\n";
    text += "#\n";
  }
  return text + write_manifest(with_instance(opened), problem.launch);
}

}  // namespace regraph
