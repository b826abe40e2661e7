// The process that does calls: what a kernel does to it ends one call, not the server.
#pragma once

#include "agent/mcp_server.h"
#include "base/cancellation.h"
#include "base/result.h"
#include "base/service_process.h"

#include <optional>
#include <string>
#include <string_view>

namespace regraph::agent {

// Does one call after the other.
class CallWorker {
 public:
  virtual ~CallWorker() = default;
  // Never fails: what became of a call that was cancelled, took too long or ended the worker is
  // said in the result.
  // `report` is told how far it is, on the calling thread.
  [[nodiscard]] virtual ToolResult call(const ToolCall& call, const Cancellation& cancellation,
                                        const ProgressReport& report) = 0;
};

// What goes to the process and comes back, as text. Errors: parse.
[[nodiscard]] std::string call_request_text(const ToolCall& call);
[[nodiscard]] Result<ToolCall> read_call_request(std::string_view text);
[[nodiscard]] std::string result_text(const ToolResult& result);
[[nodiscard]] Result<ToolResult> read_result(std::string_view text);
[[nodiscard]] std::string progress_text(const CallProgress& progress);
// Nothing: it is something else.
[[nodiscard]] std::optional<CallProgress> read_progress(std::string_view text);

// Started when it is needed, and again after it was lost; problems are opened again then.
class WorkerProcess final : public CallWorker {
 public:
  // `seconds`: of a call; the process is given a little longer to say itself that it was too long.
  WorkerProcess(SpawnRequest program, double seconds)
      : program_(std::move(program)), seconds_(seconds) {}

  [[nodiscard]] ToolResult call(const ToolCall& call, const Cancellation& cancellation,
                                const ProgressReport& report) override;

 private:
  const SpawnRequest program_;
  const double seconds_;
  std::optional<ServiceProcess> process_;
};

}  // namespace regraph::agent
