#include "report/hand_back_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <iterator>
#include <optional>

namespace regraph {
namespace {

// "block 128, grid cdiv(n, 128) = 32".
std::string launch_text(const Problem& problem, const LaunchPlan& plan) {
  const Launch* launch = plan.launch_of(problem.signature.name);
  if (launch == nullptr) return "none";
  const auto axes = [](const auto& x, const auto& y, const auto& z) {
    if (fmt::format("{} {}", y, z) == "1 1") return fmt::format("{}", x);
    return fmt::format("({}, {}, {})", x, y, z);
  };
  std::string text =
      fmt::format("block {}, grid {}",
                  axes(launch->block_extent(0).text(), launch->block_extent(1).text(),
                       launch->block_extent(2).text()),
                  axes(launch->grid[0].text(), launch->grid[1].text(), launch->grid[2].text()));
  const auto numbers = problem.bench.empty()
                           ? std::nullopt
                           : std::optional(concretise(*launch, problem.bench.back()));
  if (numbers && numbers->ok()) {
    const ConcreteLaunch& bench = **numbers;
    text += fmt::format(" = {}", axes(bench.grid.x, bench.grid.y, bench.grid.z));
    if (bench.dynamic_shared_bytes > 0)
      text += fmt::format(", {} bytes of dynamic shared memory", bench.dynamic_shared_bytes);
  }
  if (plan.launches.size() > 1) text += fmt::format(" (of {} launches)", plan.launches.size());
  return text;
}

}  // namespace

std::string launches_text(const RunReport& report) {
  std::string text;
  const std::string before = launch_text(report.problem, report.problem.launch);
  const std::string after = launch_text(report.problem, report.outcome.best.plan);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "  launch      {}\n", after);
  fmt::format_to(out, "              {}{}\n",
                 before == after ? "as before" : "before: ", before == after ? "" : before);
  return text;
}

std::string hand_back_text(const HandBackReport& back) {
  std::string text;
  auto out = std::back_inserter(text);
  if (back.patch.empty()) {
    fmt::format_to(out, "  patch       none: {}\n", back.why_not);
    return text;
  }
  fmt::format_to(out, "  patch       of {}", fmt::join(back.files, ", "));
  if (!back.folder.empty()) fmt::format_to(out, " in {}", back.folder);
  text += "\n";
  for (const HandedLaunch& launch : back.launches) {
    fmt::format_to(out, "              line {} of {}: <<<{}>>> becomes <<<{}>>>\n", launch.line,
                   launch.file, launch.before, launch.after);
  }
  for (const std::string& note : back.notes)
    fmt::format_to(out, "              {}\n", note);
  return text;
}

std::string check_text(const CheckReport& check) {
  std::string text;
  auto out = std::back_inserter(text);
  if (!check.ran) {
    fmt::format_to(out, "  check       no verdict of '{}': {}\n", check.command, check.trouble);
  } else if (check.same) {
    const bool unseen = check.launches == 0u;
    fmt::format_to(out, "  check       '{}' {} ({} without the patch, {} with it, {})\n",
                   check.command,
                   unseen ? "ends as before, but never launched the kernel" : "passes as before",
                   duration_text(check.baseline_seconds), duration_text(check.patched_seconds),
                   check.on_gpu ? "on the GPU" : "on the interpreter");
  } else {
    fmt::format_to(
        out, "  check       '{}' FAILS WITH THE PATCH, so the best candidate is withdrawn: {}\n",
        check.command, check.trouble);
  }
  for (const std::string& note : check.notes)
    fmt::format_to(out, "              {}\n", note);
  return text;
}

}  // namespace regraph
