// regraph-mcp: kernels judged and improved for coding agents, which talk to it over standard input
// and output by the Model Context Protocol (docs/agents.md).
#include "agent/call_queue.h"
#include "agent/call_record.h"
#include "agent/line_splitter.h"
#include "agent/mcp_server.h"
#include "agent/tool_list.h"
#include "agent/toolbox.h"
#include "agent/worker_process.h"
#include "agent/workspace.h"
#include "base/frame_stream.h"
#include "base/hash.h"
#include "cli/fleet_flags.h"
#include "cli/kinds.h"
#include "cli/problem_flags.h"
#include "cli/program.h"
#include "cli/program_mains.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <poll.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace regraph::cli {
namespace {

struct McpOptions {
  SessionOptions session;
  FleetFlags fleet;
  std::string workspace;
  std::string interface = "regraph";
  int most_evaluations = 200;
  double call_seconds = 300.0;
  int most_calls = 1000;
  int most_source_bytes = 256 << 10;
  int jobs = 0;
  bool worker = false;  // this is the process that does the calls

  [[nodiscard]] agent::Interface tools() const {
    return interface == "tritongym" ? agent::Interface::triton_gym : agent::Interface::regraph;
  }
  [[nodiscard]] std::size_t source_bytes() const {
    return static_cast<std::size_t>(most_source_bytes);
  }
};

constexpr const char* kMcpFooter =
    R"(An editor or agent starts it; for most of them this is the configuration:
  {"mcpServers": {"regraph": {"command": "regraph-mcp", "args": ["--device", "h200"]}}}

Tools: open_problem, compile, verify, profile, score, propose_steps, apply_step, search. Every call and its answer is
kept in WORKSPACE/calls.jsonl, faster kernels in WORKSPACE/collected.txt and searches in WORKSPACE/runs:
'regraph-dataset build WORKSPACE WORKSPACE/runs/*' makes a data set of them. docs/agents.md has the details.

Exit codes: 0 the client is gone, 1 internal error, 2 usage, 130 interrupted.)";

constexpr int kPollMilliseconds = 200;
// What a pipe takes at once when poll says that it takes something.
constexpr std::size_t kPipeBytes = 4096;
// Escaped, a byte of a source takes six in a message; beside it stand a manifest and names.
constexpr std::size_t kBytesBesideSource = std::size_t{1} << 20;

std::size_t longest_line(const McpOptions& options) {
  return 6 * options.source_bytes() + kBytesBesideSource;
}

agent::WorkspaceLimits limits_of(const McpOptions& options) {
  agent::WorkspaceLimits limits;
  // A source with its own headers put in.
  limits.file_bytes = std::max(limits.file_bytes, 4 * options.source_bytes());
  return limits;
}

// Where answers go. A client that reads nothing must not keep the server from ending.
class AnswerStream {
 public:
  AnswerStream(int descriptor, const Cancellation& interrupted)
      : descriptor_(descriptor), interrupted_(interrupted) {}

  // Called by one thread at a time.
  void write_line(const std::string& line) {
    std::string_view rest = line;
    const std::string newline = "\n";
    write(rest);
    write(newline);
  }
  // Whether the reader is still there.
  [[nodiscard]] bool is_wanted() const {
    pollfd ready{descriptor_, 0, 0};
    return !closed_ && (::poll(&ready, 1, 0) <= 0 || (ready.revents & (POLLERR | POLLHUP)) == 0);
  }
  // What is not written by now is not wanted any more.
  void close() { closed_ = true; }

 private:
  void write(std::string_view rest) {
    while (!rest.empty() && !closed_ && !interrupted_.requested()) {
      pollfd ready{descriptor_, POLLOUT, 0};
      if (::poll(&ready, 1, kPollMilliseconds) <= 0) continue;
      const ssize_t count = ::write(descriptor_, rest.data(), std::min(rest.size(), kPipeBytes));
      if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (count <= 0) return close();
      rest.remove_prefix(static_cast<std::size_t>(count));
    }
  }

  const int descriptor_;
  const Cancellation& interrupted_;
  std::atomic<bool> closed_{false};
};

// Reads until the client closes the stream or a signal comes.
void read_lines(const Program& program, agent::LineSplitter& lines) {
  std::array<char, 65536> buffer;
  while (!program.interrupted().requested()) {
    pollfd ready{STDIN_FILENO, POLLIN, 0};
    if (::poll(&ready, 1, kPollMilliseconds) <= 0) continue;
    const ssize_t count = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return lines.end();
    lines.feed({buffer.data(), static_cast<std::size_t>(count)});
  }
}

// A copy of this program that does the calls. It finds the fleet in its environment.
SpawnRequest worker_request(const Program& program, const McpOptions& options,
                            const agent::Workspace& workspace) {
  SpawnRequest request;
  request.program = program.installation().programs / "regraph-mcp";
  request.arguments = {"--worker",
                       "--workspace",
                       workspace.folder().string(),
                       "--evaluator",
                       options.session.evaluator,
                       "--interface",
                       options.interface,
                       "--most-evaluations",
                       std::to_string(options.most_evaluations),
                       "--call-seconds",
                       fmt::format("{}", options.call_seconds),
                       "--most-source-bytes",
                       std::to_string(options.most_source_bytes)};
  if (!options.session.device.empty()) {
    request.arguments.insert(request.arguments.end(), {"--device", options.session.device});
  }
  if (options.jobs > 0)
    request.arguments.insert(request.arguments.end(), {"--jobs", std::to_string(options.jobs)});
  for (char** entry = environ; *entry != nullptr; ++entry)
    request.environment.emplace_back(*entry);
  return request;
}

Result<agent::Workspace> open_workspace(const McpOptions& options) {
  std::filesystem::path folder = options.workspace;
  if (folder.empty()) {
    std::error_code ignored;
    std::string made =
        (std::filesystem::temp_directory_path(ignored) / "regraph-mcp-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr)
      return fail(ErrorCode::io, "no folder could be made in the temporary directory");
    folder = made;
  }
  return agent::Workspace::open(folder, limits_of(options));
}

// Workers come and go while a server runs: who is there is asked each time it matters.
agent::AgentFleet agent_fleet(ConnectedFleet& fleet) {
  if (fleet.broker == nullptr) return {};
  return {[&fleet] {
            // Where this fails, what was known has to do.
            (void)look_at_workers(fleet);
            return fleet.access;
          },
          [&fleet](const std::string& lane) {
            (void)look_at_workers(fleet);
            return places_for(fleet, lane);
          }};
}

// Does calls that come as messages, until nobody asks any more.
int work(const Program& program, const McpOptions& options) {
  // Whatever else prints must not end up between the answers.
  const int answers = ::dup(STDOUT_FILENO);
  if (answers < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kInternalError;
  const auto workspace = open_workspace(options);
  if (!workspace) return program.fail(session_error(workspace.error()));
  auto fleet = fleet_of(program, options.fleet, false);
  if (!fleet) return program.fail(fleet.error());
  agent::ToolboxOptions toolbox_options;
  toolbox_options.installation = program.installation();
  toolbox_options.interface = options.tools();
  toolbox_options.device = options.session.device;
  toolbox_options.evaluator = options.session.evaluator;
  toolbox_options.most_evaluations = options.most_evaluations;
  toolbox_options.call_seconds = options.call_seconds;
  toolbox_options.most_source_bytes = options.source_bytes();
  toolbox_options.jobs = options.jobs;
  toolbox_options.fleet = agent_fleet(*fleet);
  agent::Toolbox toolbox(std::move(toolbox_options), *workspace);
  while (const std::optional<std::string> message = read_frame(STDIN_FILENO)) {
    const auto call = agent::read_call_request(*message);
    const agent::ProgressReport report = [&](const agent::CallProgress& progress) {
      (void)write_frame(answers, agent::progress_text(progress));
    };
    const agent::ToolResult result = call ? toolbox.call(*call, program.interrupted(), report)
                                          : agent::failed_call(call.error().message);
    if (!write_frame(answers, agent::result_text(result))) break;
    if (program.interrupted().requested()) return kInterrupted;
  }
  return 0;
}

agent::ServerOptions server_options(const McpOptions& options, const agent::Workspace& workspace) {
  agent::ServerOptions server;
  server.version = REGRAPH_VERSION;
  server.longest_line = longest_line(options);
  server.most_calls = options.most_calls;
  server.instructions = agent::instructions_of(options.tools()) +
                        " Files that tools are to read must lie in the workspace, " +
                        workspace.folder().string() + ".";
  return server;
}

std::string session_id() {
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  return hash_text(fmt::format("{} {}", now, ::getpid())).hex().substr(0, 12);
}

int serve(const Program& program, const McpOptions& options) {
  const int client = ::dup(STDOUT_FILENO);
  if (client < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return kInternalError;
  // That there is none is said at once, and not to every call.
  if (const auto fleet = fleet_of(program, options.fleet, true); !fleet)
    return program.fail(fleet.error());
  export_fleet(options.fleet);
  const auto workspace = open_workspace(options);
  if (!workspace) return program.fail(session_error(workspace.error()));
  if (options.workspace.empty()) program.say("workspace: " + workspace->folder().string());
  AnswerStream answers(client, program.interrupted());
  agent::CallRecorder recorder(*workspace, session_id());
  const auto record = [&](const agent::FinishedCall& one) {
    const char* const outcome = one.cancelled         ? "cancelled"
                                : one.result.is_error ? "failed"
                                                      : "answered";
    const Status kept = recorder.add({one.call.number, one.client, one.call.tool,
                                      one.call.arguments, outcome, one.seconds, one.result});
    if (!kept) program.say("a call could not be recorded: " + kept.error().message);
  };
  // Ends before the server does, to which it answers.
  std::optional<agent::McpServer> server;
  agent::CallQueue queue(
      [&] {
        return std::make_unique<agent::WorkerProcess>(worker_request(program, options, *workspace),
                                                      options.call_seconds);
      },
      [&](std::int64_t number, agent::ToolResult result) {
        server->finish(number, std::move(result));
      },
      [&](std::int64_t number, const agent::CallProgress& progress) {
        server->progress(number, progress);
      });
  server.emplace(
      agent::tools_of(options.tools()), queue,
      [&](const std::string& line) { answers.write_line(line); }, record,
      server_options(options, *workspace));
  agent::LineSplitter lines(
      longest_line(options), [&](std::string_view line) { server->take(line); },
      [&] { server->take_oversized(); });
  read_lines(program, lines);
  // A client that has said all may still read: what it asked for is done before the end.
  while (!program.interrupted().requested() && server->is_busy() && answers.is_wanted())
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
  answers.close();
  server->close();
  return program.interrupted().requested() ? kInterrupted : 0;
}

int run(int argc, char** argv) {
  const Program program("regraph-mcp", argv[0]);
  McpOptions options;
  CLI::App app{"Judges and improves CUDA kernels for coding agents, by the Model Context Protocol.",
               "regraph-mcp"};
  app.footer(kMcpFooter);
  app.set_version_flag("--version", std::string("regraph-mcp ") + REGRAPH_VERSION);
  app.add_option("--workspace", options.workspace,
                 "the only folder that files are read from and written to (default: a new one in "
                 "the temporary directory, which is kept)");
  add_device_options(app, options.session);
  app.add_option("--interface", options.interface,
                 "tools to offer: regraph, or tritongym: three calls with rewards")
      ->check(CLI::IsMember({"regraph", "tritongym"}))
      ->capture_default_str();
  app.add_option("--most-evaluations", options.most_evaluations, "candidates of one search")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--call-seconds", options.call_seconds, "seconds that one call may take")
      ->check(CLI::Range(1.0, 86'400.0))
      ->capture_default_str();
  app.add_option("--most-calls", options.most_calls, "calls of one session")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  app.add_option("--most-source-bytes", options.most_source_bytes, "bytes of a source")
      ->check(CLI::Range(1024, 1 << 20))
      ->capture_default_str();
  app.add_option("--jobs", options.jobs,
                 "parallel workers of a search (default: processors, or places of the fleet)")
      ->check(CLI::Range(1, 1024));
  add_fleet_options(app, options.fleet);
  app.add_flag("--worker", options.worker)->group("");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  return options.worker ? work(program, options) : serve(program, options);
}

}  // namespace
int mcp_main(int argc, char** argv) {
  return guarded("regraph-mcp", argc, argv, run);
}

}  // namespace regraph::cli
