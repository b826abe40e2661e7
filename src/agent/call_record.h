// What an agent did: a line of JSON a call in WORKSPACE/calls.jsonl, in full (docs/agents.md).
#pragma once

#include "agent/tool.h"
#include "agent/workspace.h"
#include "base/result.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <mutex>
#include <string>

namespace regraph::agent {

struct CallRecord {
  std::int64_t number = 0;  // of the call in this session of the server, from 1
  std::string client;       // name and version, as it says itself
  std::string tool;
  nlohmann::ordered_json arguments;
  std::string outcome;  // "answered", "failed" (isError), "cancelled"
  double seconds = 0.0;
  ToolResult result;
};

// Thread-safe.
class CallRecorder {
 public:
  static constexpr const char* kFileName = "calls.jsonl";

  // The workspace must outlive it. `session` tells the sessions apart that share a workspace.
  CallRecorder(const Workspace& workspace, std::string session)
      : workspace_(workspace), session_(std::move(session)) {}

  // Errors: io, resource. The calls that follow may succeed again.
  [[nodiscard]] Status add(const CallRecord& record);

 private:
  const Workspace& workspace_;
  const std::string session_;
  std::mutex mutex_;
};

// The line of a record, with its newline; `time` is in seconds since 1970.
[[nodiscard]] std::string call_text(const CallRecord& record, const std::string& session,
                                    double time);

}  // namespace regraph::agent
