// The server's side of the Model Context Protocol: messages in, messages out. It does no IO and
// runs no tool: lines go to a sink, calls to a runner that answers when it likes.
#pragma once

#include "agent/mcp_message.h"
#include "agent/tool.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::llm {
class JsonSchema;
}

namespace regraph::agent {

// A call that was asked for and whose arguments fit the tool's schema.
struct ToolCall {
  std::int64_t number = 0;  // from 1, in the order they came in
  std::string tool;
  Json arguments;
};

// Does calls. Both are called while the server is locked: they must return soon and must not call
// it.
class CallRunner {
 public:
  virtual ~CallRunner() = default;
  virtual void start(ToolCall call) = 0;
  // The answer to that call is not wanted any more.
  virtual void cancel(std::int64_t number) = 0;
};

struct ServerOptions {
  std::string name = "regraph";
  std::string version;
  std::string instructions;  // for the model, about all tools together
  std::size_t longest_line = std::size_t{4} << 20;
  std::int64_t most_calls = 1000;  // of a session
  std::size_t most_waiting = 16;   // calls that were not answered yet
};

// One call that is over, for a record of it.
struct FinishedCall {
  ToolCall call;
  ToolResult result;
  double seconds = 0.0;  // since it was asked for
  bool cancelled = false;
  std::string client;  // name and version, as it says itself
};

// The versions of the protocol that are spoken, the newest last.
[[nodiscard]] std::span<const std::string_view> protocol_versions();

// Thread-safe.
class McpServer {
 public:
  using Sink = std::function<void(const std::string& line)>;  // one line, without its newline
  using Recorder = std::function<void(const FinishedCall&)>;

  // `tools` and `runner` must outlive it. `sink` and `recorder` are called from whatever thread
  // called the server.
  McpServer(std::span<const Tool> tools, CallRunner& runner, Sink sink, Recorder recorder,
            ServerOptions options);
  ~McpServer();
  McpServer(const McpServer&) = delete;
  McpServer& operator=(const McpServer&) = delete;

  // A line from the client. Never fails: what is wrong with it is answered.
  void take(std::string_view line);
  // A line that was too long to be kept.
  void take_oversized();
  // What came of a call. A number that is not known, or was answered, counts for nothing.
  void finish(std::int64_t number, ToolResult result);
  // How far a call is: a notification, where the client asked for some.
  void progress(std::int64_t number, const CallProgress& progress);
  // Whether a call that nobody cancelled is under way.
  [[nodiscard]] bool is_busy() const;
  // Nobody waits for any answer any more: all calls are cancelled.
  void close();

 private:
  struct Pending {
    Json id;
    ToolCall call;
    std::chrono::steady_clock::time_point since;
    Json progress_token;  // null: nobody wants to know how far it is
    bool cancelled = false;
    double told = 0.0;  // progress
  };

  void answer_request(const Message& message);
  void note(const Message& notification);
  void initialize(const Message& message);
  void list_tools(const Message& message);
  void call_tool(const Message& message);
  void record(Pending pending, ToolResult result);
  [[nodiscard]] const Tool* find_tool(std::string_view name) const;
  // The call that this request is, or null.
  [[nodiscard]] Pending* find_pending(const Json& id);
  void error(const Json& id, RpcError code, const std::string& message);

  const std::span<const Tool> tools_;
  CallRunner& runner_;
  const Sink sink_;
  const Recorder recorder_;
  const ServerOptions options_;
  std::vector<llm::JsonSchema> schemas_;  // of the tools, in their order
  mutable std::mutex mutex_;
  bool initialized_ = false;
  bool client_takes_messages_ = true;  // with notifications of progress
  std::string client_;
  std::int64_t calls_ = 0;
  std::map<std::int64_t, Pending> pending_;  // by number
};

}  // namespace regraph::agent
