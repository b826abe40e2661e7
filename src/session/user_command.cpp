#include "session/user_command.h"

#include "base/child_process.h"
#include "base/files.h"
#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/problem/kernel_source.h"
#include "session/captured_device.h"
#include "source/host_launch.h"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>
#include <utility>

extern char** environ;

namespace regraph {
namespace {

constexpr std::size_t kMostCommandOutput = std::size_t{64} << 20;
constexpr int kSignalBase = 128;  // as the shell tells signals
constexpr const char* kAppendFlags = "NVCC_APPEND_FLAGS";

std::string last_line(std::string_view text) {
  constexpr std::size_t kLongest = 200;
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  return std::string(text.substr(0, kLongest));
}

std::vector<std::string> whole_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

Error too_long(const UserCommand& command) {
  return fail(ErrorCode::resource,
              fmt::format("it does not end within {:g} s{} (--check-seconds)", command.seconds,
                          command.on_gpu ? "" : " on the interpreter"));
}

Error too_much() {
  return fail(ErrorCode::resource, "it writes more than anybody reads");
}

Result<CommandRun> run_natively(const UserCommand& command, const Cancellation& cancellation) {
  ChildRequest shell;
  shell.program = "/bin/sh";
  shell.arguments = {"-c", command.command};
  shell.environment = whole_environment();
  shell.working_directory = command.folder;
  shell.wall_seconds = command.seconds;
  shell.output_limit_bytes = kMostCommandOutput;
  auto done = run_child(shell, cancellation);
  if (!done) return done.error();
  if (done->end == ChildEnd::timed_out) return too_long(command);
  if (done->end == ChildEnd::output_limit) return too_much();
  CommandRun run;
  run.exit_code = done->end == ChildEnd::signalled ? kSignalBase + done->signal : done->exit_code;
  run.seconds = done->wall_seconds;
  run.output = std::move(done->output);
  run.last_words = last_line(done->error);
  return run;
}

Result<CommandRun> run_on_interpreter(const UserCommand& command, const OpenedProblem& opened,
                                      const Installation& installation,
                                      const Cancellation& cancellation) {
  const auto words = TemporaryDirectory::create("regraph-check-");
  if (!words) return words.error();
  capture::CaptureDeviceConfig config;
  config.facts = facts_of(opened.device.device);
  config.launch_seconds = command.seconds;
  capture::CaptureDevice device(config);
  capture::ProgramRun program;
  program.command = {"/bin/sh", "-c", command.command};
  program.runtime_directory = installation.capture_runtime();
  program.wall_seconds = command.seconds;
  program.output = words->path() / "output";
  program.directory = command.folder;
  program.errors = words->path() / "errors";
  const char* const flags = std::getenv(kAppendFlags);
  program.variables = {fmt::format("{}={}{}-cudart shared", kAppendFlags,
                                   flags != nullptr ? flags : "", flags != nullptr ? " " : "")};
  const auto end = capture::capture_program(program, device, cancellation);
  if (!end) return end.error();
  if (end->timed_out) return too_long(command);
  if (end->too_long_output) return too_much();
  CommandRun run;
  run.exit_code = end->signal != 0 ? kSignalBase + end->signal : end->exit_code;
  run.seconds = end->seconds;
  run.asked = end->asked;
  run.notes = device.notes();
  auto output = read_file(program.output, kMostCommandOutput);
  if (!output) return output.error();
  run.output = std::move(*output);
  if (const auto errors = read_file(program.errors, kMostCommandOutput))
    run.last_words = last_line(*errors);
  const std::string kernel = source::unqualified_name(opened.problem.signature.name);
  for (const capture::LaunchedKernel* launched : device.launched()) {
    if (capture::plain_name_of(launched->symbol) == kernel) run.launches += launched->launches;
    if (!launched->fault.empty()) run.faults.push_back(launched->fault);
  }
  return run;
}

}  // namespace

Result<CommandRun> run_user_command(const UserCommand& command, const OpenedProblem& opened,
                                    const Installation& installation,
                                    const Cancellation& cancellation) {
  if (command.on_gpu) return run_natively(command, cancellation);
  return run_on_interpreter(command, opened, installation, cancellation);
}

}  // namespace regraph
