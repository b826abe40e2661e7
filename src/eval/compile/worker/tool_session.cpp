#include "eval/compile/worker/tool_session.h"

#include "eval/compile/worker/sandbox.h"
#include "eval/compile/worker/tool_run.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace regraph::compile_internal {

namespace {

constexpr unsigned kFurtherProcesses = 256;
constexpr const char* kPtxName = "kernel.ptx";
constexpr const char* kCubinName = "kernel.cubin";
// A shell and nvcc say so that what they started was ended by a signal.
constexpr int kSignalBase = 128;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The log must not tell which files there are: the preprocessor has a message of its own for those
// that the sandbox keeps from it.
std::string discreet(std::string log) {
  replace_all(log, ": Permission denied", ": No such file or directory");
  return log;
}

int signal_of(const ToolRun& run) {
  if (WIFSIGNALED(run.status)) return WTERMSIG(run.status);
  const int code = WIFEXITED(run.status) ? WEXITSTATUS(run.status) : 0;
  if (code > kSignalBase && code < kSignalBase + NSIG) return code - kSignalBase;
  // gcc is a driver as well, and exits with 1.
  if (run.log.find("signal terminated program cc1plus") != std::string::npos) return SIGKILL;
  if (run.log.find("cc1plus: out of memory") != std::string::npos) return SIGABRT;
  return 0;
}

}  // namespace

bool ToolSession::write(const std::string& name, std::string_view text) const {
  std::error_code ignored;  // the write fails then
  std::filesystem::create_directories((folder / name).parent_path(), ignored);
  std::ofstream file(folder / name, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.good();
}

std::string ToolSession::read(const std::string& name) const {
  std::ifstream file(folder / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void ToolSession::enter() {
  limit_processes(kFurtherProcesses);
  response.sandbox =
      enter_sandbox({request.include_directories, tools.runnable_directories, {tools.folder}});
}

bool ToolSession::run_program(const std::string& program, std::vector<std::string> arguments,
                              std::vector<std::string> environment) {
  ToolCommand command;
  command.program = program;
  command.arguments = std::move(arguments);
  // A fixed date makes __DATE__ and __TIME__ the same in every run.
  command.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + tools.folder, "LC_ALL=C",
                         "SOURCE_DATE_EPOCH=0"};
  for (std::string& variable : environment)
    command.environment.push_back(std::move(variable));
  command.directory = tools.folder;
  const ToolRun run = run_tool(command);
  if (const int signal = signal_of(run); signal != 0) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
  }
  response.log += discreet(run.log);
  if (run.status == 0) return true;
  if (response.log.empty()) response.log = program + " ended without a word";
  response.status = WorkerResponse::Status::rejected;
  return false;
}

bool ToolSession::assemble() {
  std::vector<std::string> arguments = tools.assembler_options;
  arguments.insert(arguments.end(), {"-o", kCubinName, kPtxName});
  if (!write(kPtxName, response.ptx)) {
    response.log = "the PTX could not be kept";
    return false;
  }
  if (!run_program(tools.assembler, std::move(arguments))) return false;
  response.cubin = read(kCubinName);
  if (!response.cubin.empty()) return true;
  response.log = "ptxas gave no machine code for this architecture";
  return false;
}

bool ToolSession::reject(const std::string& why) {
  response.status = WorkerResponse::Status::rejected;
  response.log = why;
  return false;
}

}  // namespace regraph::compile_internal
