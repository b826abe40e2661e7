// The tools at work: a call in, what came of it out.
#pragma once

#include "agent/mcp_server.h"
#include "agent/problem_shelf.h"
#include "agent/tool.h"
#include "agent/workspace.h"
#include "base/cancellation.h"
#include "session/installation.h"

#include <cstddef>
#include <string>

namespace regraph::agent {

struct ToolboxOptions {
  Installation installation;
  Interface interface = Interface::regraph;
  std::string device;  // as of SessionOptions, for problems that name none
  std::string evaluator = "auto";
  int most_evaluations = 200;  // of one search
  double call_seconds = 300.0;
  std::size_t most_source_bytes = std::size_t{256} << 10;
  int jobs = 0;  // of a search; 0: as many as there are processors, or places of the fleet
  AgentFleet fleet = {};
};

// Not thread-safe.
class Toolbox {
 public:
  // `workspace` must outlive it.
  Toolbox(ToolboxOptions options, const Workspace& workspace);

  // The arguments fit the tool's schema. Never fails: an answer may say what could not be done.
  // `report` is told now and then how far it is, on this thread or another.
  [[nodiscard]] ToolResult call(const ToolCall& call, const Cancellation& cancellation,
                                const ProgressReport& report = {});

 private:
  const ToolboxOptions options_;
  const Workspace& workspace_;
  ProblemShelf shelf_;
};

}  // namespace regraph::agent
