#include "eval/compile/worker/nvcc_session.h"

#include "eval/compile/nvcc_text.h"
#include "eval/compile/worker/sandbox.h"
#include "eval/compile/worker/tool_run.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace regraph::compile_internal {

namespace {

namespace fs = std::filesystem;

constexpr unsigned kFurtherProcesses = 256;
constexpr const char* kPtxName = "kernel.ptx";
constexpr const char* kCubinName = "kernel.cubin";
// A shell and nvcc say so that what they started was ended by a signal.
constexpr int kSignalBase = 128;

bool write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  file.close();
  return file.good();
}

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

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

class NvccSession {
 public:
  explicit NvccSession(const WorkerRequest& request)
      : request_(request), nvcc_(request.nvcc), folder_(request.nvcc.folder) {}

  WorkerResponse run() {
    response_.log = prepare();
    if (!response_.log.empty()) return response_;
    limit_processes(kFurtherProcesses);
    response_.sandbox =
        enter_sandbox({request_.include_directories, nvcc_.runnable_directories, {nvcc_.folder}});
    if (compile() && (!request_.want_cubin || assemble()))
      response_.status = WorkerResponse::Status::compiled;
    return response_;
  }

 private:
  // Returns what is wrong, empty on success.
  [[nodiscard]] std::string prepare() const {
    bool written =
        write(folder_ / request_.file_name, with_entry_marker(request_.source, request_.kernel));
    for (const auto& [name, text] : request_.headers)
      written = written && write(folder_ / name, text);
    return written ? "" : "the folder for nvcc cannot be written to";
  }

  // Runs a program; returns whether it found nothing wrong.
  bool run_program(const std::string& program, std::vector<std::string> arguments) {
    ToolCommand command;
    command.program = program;
    command.arguments = std::move(arguments);
    // A fixed date makes __DATE__ and __TIME__ the same in every run.
    command.environment = {"PATH=/usr/bin:/bin", "TMPDIR=" + nvcc_.folder, "LC_ALL=C",
                           "SOURCE_DATE_EPOCH=0"};
    command.directory = nvcc_.folder;
    const ToolRun run = run_tool(command);
    if (const int signal = signal_of(run); signal != 0) {
      ::signal(signal, SIG_DFL);
      ::raise(signal);
    }
    response_.log += discreet(run.log);
    if (run.status == 0) return true;
    if (response_.log.empty()) response_.log = program + " ended without a word";
    response_.status = WorkerResponse::Status::rejected;
    return false;
  }

  bool compile() {
    std::vector<std::string> arguments = request_.options;
    arguments.insert(arguments.end(), {"-ptx", "-o", kPtxName, request_.file_name});
    if (!run_program(nvcc_.program, std::move(arguments))) return false;
    std::optional<MarkedPtx> marked = read_marked_ptx(read(folder_ / kPtxName), nvcc_.folder);
    if (!marked) {
      return reject("error: the source uses names that are the compiler's own");
    }
    if (!request_.kernel.empty() &&
        marked->ptx.find(".entry " + marked->entry + "(") == std::string::npos) {
      return reject("error: '" + request_.kernel + "' is not a __global__ function of this source");
    }
    response_.ptx = std::move(marked->ptx);
    response_.entry = std::move(marked->entry);
    return true;
  }

  bool reject(const std::string& why) {
    response_.status = WorkerResponse::Status::rejected;
    response_.log = why;
    return false;
  }

  bool assemble() {
    std::vector<std::string> arguments = nvcc_.assembler_options;
    arguments.insert(arguments.end(), {"-o", kCubinName, kPtxName});
    if (!write(folder_ / kPtxName, response_.ptx)) {
      response_.log = "the PTX could not be kept";
      return false;
    }
    if (!run_program(nvcc_.assembler, std::move(arguments))) return false;
    response_.cubin = read(folder_ / kCubinName);
    if (!response_.cubin.empty()) return true;
    response_.log = "ptxas gave no machine code for this architecture";
    return false;
  }

  const WorkerRequest& request_;
  const NvccRequest& nvcc_;
  const fs::path folder_;
  WorkerResponse response_;
};

}  // namespace

WorkerResponse compile_with_nvcc(const WorkerRequest& request) {
  return NvccSession(request).run();
}

}  // namespace regraph::compile_internal
