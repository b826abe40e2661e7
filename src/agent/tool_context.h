// What a tool has at hand while it does one call, and what several of them need.
#pragma once

#include "agent/problem_shelf.h"
#include "agent/tool.h"
#include "agent/toolbox.h"
#include "agent/workspace.h"
#include "base/cancellation.h"
#include "kernel/evaluation.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace regraph::agent {

using ToolJson = nlohmann::ordered_json;

struct ToolContext {
  const ToolboxOptions& options;
  const Workspace& workspace;
  ProblemShelf& shelf;
  const ToolJson& arguments;  // they fit the tool's schema
  const Cancellation& cancellation;
  const ProgressReport& report;
};

// The argument, or what stands for it.
[[nodiscard]] std::string text_argument(const ToolContext& context, const char* name);
[[nodiscard]] std::int64_t integer_argument(const ToolContext& context, const char* name,
                                            std::int64_t otherwise);

// 'source', or the content of 'file' with its own headers put in; empty where neither is given.
// Errors: both are given, it is too long, the file cannot be read.
[[nodiscard]] Result<std::string> source_argument(const ToolContext& context);

// The problem that the call is about, and the candidate; or what is to be answered instead.
struct Subject {
  AgentProblem* problem = nullptr;
  std::optional<Candidate> candidate;  // nothing: it cannot be one, says `why`
  std::string why;
  bool is_original = false;
};
[[nodiscard]] std::variant<Subject, ToolResult> subject_of(const ToolContext& context);

// Parts of answers.
[[nodiscard]] ToolJson time_json(const TimeEstimate& time);
[[nodiscard]] std::string time_text(const Evaluation& evaluation);
[[nodiscard]] ToolJson verdict_json(const Evaluation& evaluation);
// The launch of the problem's kernel, as an argument 'launch' takes it; null where there is none.
[[nodiscard]] ToolJson launch_json(const LaunchPlan& plan, const Session& session);
[[nodiscard]] std::string code_block(const std::string& source);
// For a candidate that is none.
[[nodiscard]] ToolResult not_judged(const std::string& why);

}  // namespace regraph::agent
