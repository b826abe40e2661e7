#include "agent/toolbox.h"

#include "agent/tool_groups.h"
#include "base/deadline.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <string_view>
#include <utility>

namespace regraph::agent {

namespace {

// That one candidate may take, where a call may take longer.
constexpr double kCandidateSeconds = 60.0;

struct ToolEntry {
  Interface interface;
  std::string_view name;
  ToolResult (*run)(const ToolContext&);
};

constexpr std::array kToolEntries = {
    ToolEntry{Interface::regraph, "open_problem", open_problem_tool},
    ToolEntry{Interface::regraph, "compile", compile_tool},
    ToolEntry{Interface::regraph, "verify", verify_tool},
    ToolEntry{Interface::regraph, "profile", profile_tool},
    ToolEntry{Interface::regraph, "score", score_tool},
    ToolEntry{Interface::regraph, "propose_steps", propose_steps_tool},
    ToolEntry{Interface::regraph, "apply_step", apply_step_tool},
    ToolEntry{Interface::regraph, "search", search_tool},
    ToolEntry{Interface::triton_gym, "open_problem", open_problem_tool},
    ToolEntry{Interface::triton_gym, "compile", gym_compile_tool},
    ToolEntry{Interface::triton_gym, "verify", gym_verify_tool},
    ToolEntry{Interface::triton_gym, "profile", gym_profile_tool},
};

}  // namespace

Toolbox::Toolbox(ToolboxOptions options, const Workspace& workspace)
    : options_(std::move(options)),
      workspace_(workspace),
      shelf_(workspace, options_.installation, options_.fleet,
             std::min(kCandidateSeconds, options_.call_seconds)) {}

ToolResult Toolbox::call(const ToolCall& call, const Cancellation& cancellation,
                         const ProgressReport& report) {
  const auto* const entry = std::ranges::find_if(kToolEntries, [&](const ToolEntry& one) {
    return one.interface == options_.interface && one.name == call.tool;
  });
  if (entry == kToolEntries.end()) return failed_call("there is no tool " + call.tool);
  const Deadline deadline(options_.call_seconds, cancellation);
  ToolResult result;
  try {
    result =
        entry->run({options_, workspace_, shelf_, call.arguments, deadline.cancellation(), report});
  } catch (const std::bad_alloc&) {
    return failed_call("out of memory; give smaller 'tests' in the manifest");
  }
  if (cancellation.requested()) return failed_call("cancelled");
  // A search that ran out of time has something to tell; others may have been broken off anywhere.
  if (deadline.expired() && (result.is_error || entry->run != search_tool)) {
    return failed_call(
        fmt::format("{} did not end within {:g} s; ask for less at once, or start regraph-mcp "
                    "with more --call-seconds",
                    call.tool, options_.call_seconds));
  }
  return result;
}

}  // namespace regraph::agent
