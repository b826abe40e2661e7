#include "session/recorded_build.h"

#include "base/child_process.h"
#include "base/files.h"
#include "eval/compile/compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr double kRecordedBuildSeconds = 3600.0;
constexpr std::size_t kLargestCall = std::size_t{4} << 20;
constexpr const char* kLogVariable = "REGRAPH_NVCC_CALLS";
constexpr const char* kCompilerVariable = "REGRAPH_NVCC_CALLED";
// A file a call, by its process: folder, arguments.
constexpr const char* kRecorder =
    "#!/bin/sh\n"
    "printf '%s\\0' \"$PWD\" \"$@\" >\"$REGRAPH_NVCC_CALLS/$$\"\n"
    "exec \"$REGRAPH_NVCC_CALLED\" \"$@\"\n";

// The nvcc that a shell would run, else the toolkit's; empty: there is none.
fs::path called_nvcc() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path != nullptr ? path : "";
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    fs::path candidate = fs::path(rest.substr(0, colon)) / "nvcc";
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(colon == std::string_view::npos ? rest.size() : colon + 1);
  }
  const auto toolkit = find_cuda_toolkit();
  std::error_code absent;
  if (toolkit && fs::exists(toolkit->root / "bin" / "nvcc", absent))
    return toolkit->root / "bin" / "nvcc";
  return {};
}

std::vector<std::string> recording_environment(const fs::path& recorder, const fs::path& nvcc,
                                               CapturePlace place) {
  constexpr std::string_view kPath = "PATH=";
  constexpr std::string_view kFlags = "NVCC_APPEND_FLAGS=";
  std::string path;
  std::string flags;
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view one = *entry;
    if (one.starts_with(kPath)) {
      path = one.substr(kPath.size());
    } else if (one.starts_with(kFlags)) {
      flags = one.substr(kFlags.size());
    } else {
      all.emplace_back(one);
    }
  }
  if (place == CapturePlace::interpreter)
    flags += flags.empty() ? "-cudart shared" : " -cudart shared";
  if (!flags.empty()) all.push_back(std::string(kFlags) + flags);
  // Where there is no nvcc, the build is to say so itself.
  all.push_back(nvcc.empty() ? std::string(kPath) + path
                             : fmt::format("{}{}:{}", kPath, (recorder / "bin").string(), path));
  all.push_back(fmt::format("{}={}", kLogVariable, (recorder / "calls").string()));
  all.push_back(fmt::format("{}={}", kCompilerVariable, nvcc.string()));
  return all;
}

Status write_recorder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder / "bin", failed);
  fs::create_directories(folder / "calls", failed);
  const fs::path script = folder / "bin" / "nvcc";
  if (Status status = write_file(script, kRecorder); !status) return status;
  fs::permissions(script, fs::perms::owner_all, failed);
  if (failed) return fail(ErrorCode::io, fmt::format("{}: {}", script.string(), failed.message()));
  return {};
}

std::vector<CompileCommand> recorded_calls(const fs::path& folder) {
  std::vector<CompileCommand> commands;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder / "calls", failed)) {
    const auto text = read_file(entry.path(), kLargestCall);
    if (!text) continue;
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text->size();) {
      const std::size_t end = std::min(text->find('\0', at), text->size());
      words.push_back(text->substr(at, end - at));
      at = end + 1;
    }
    if (words.empty()) continue;
    const fs::path directory = words.front();
    words.front() = "nvcc";
    for (CompileCommand& one : commands_of_call(directory, words))
      commands.push_back(std::move(one));
  }
  std::ranges::sort(commands, {}, &CompileCommand::file);
  return commands;
}

}  // namespace

Result<std::vector<CompileCommand>, SessionError> run_recorded_build(
    const std::string& command, CapturePlace place, const Cancellation& cancellation) {
  const auto folder = TemporaryDirectory::create("regraph-build-");
  if (!folder) return session_error(folder.error());
  const fs::path nvcc = called_nvcc();
  if (Status status = write_recorder(folder->path()); !status) return session_error(status.error());
  ChildRequest shell;
  shell.program = "/bin/sh";
  shell.arguments = {"-c", command};
  shell.environment = recording_environment(folder->path(), nvcc, place);
  shell.wall_seconds = kRecordedBuildSeconds;
  const auto done = run_child(shell, cancellation);
  if (!done) return session_error(done.error());
  if (cancellation.requested()) return SessionError{FailureCause::interrupted, "interrupted"};
  if (!done->succeeded())
    return usage(
        fmt::format("'{}' failed:\n{}", command, done->error.empty() ? done->output : done->error));
  return recorded_calls(folder->path());
}

}  // namespace regraph
