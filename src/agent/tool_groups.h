// What each tool does, by group. All take what fits their schema.
#pragma once

#include "agent/tool_context.h"

namespace regraph::agent {

[[nodiscard]] ToolResult open_problem_tool(const ToolContext& context);  // problem_tools.cpp
[[nodiscard]] ToolResult compile_tool(const ToolContext& context);       // judge_tools.cpp
[[nodiscard]] ToolResult verify_tool(const ToolContext& context);
[[nodiscard]] ToolResult profile_tool(const ToolContext& context);
[[nodiscard]] ToolResult score_tool(const ToolContext& context);
[[nodiscard]] ToolResult propose_steps_tool(const ToolContext& context);  // step_tools.cpp
[[nodiscard]] ToolResult apply_step_tool(const ToolContext& context);
[[nodiscard]] ToolResult search_tool(const ToolContext& context);       // search_tool.cpp
[[nodiscard]] ToolResult gym_compile_tool(const ToolContext& context);  // triton_gym_tools.cpp
[[nodiscard]] ToolResult gym_verify_tool(const ToolContext& context);
[[nodiscard]] ToolResult gym_profile_tool(const ToolContext& context);

}  // namespace regraph::agent
