#include "session/initial_manifest.h"

#include "kernel/manifest.h"
#include "session/opened_problem.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph {

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
  return text + write_manifest(problem, problem.launch);
}

}  // namespace regraph
