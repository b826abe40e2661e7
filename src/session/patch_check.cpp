#include "session/patch_check.h"

#include "base/child_process.h"
#include "base/files.h"
#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/problem/kernel_source.h"
#include "capture/problem/program_output.h"
#include "session/captured_device.h"
#include "session/folder_copy.h"
#include "source/host_launch.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <utility>

extern char** environ;

namespace regraph {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCheckOutput = std::size_t{64} << 20;
constexpr int kSignalBase = 128;  // as the shell tells signals
constexpr const char* kAppendFlags = "NVCC_APPEND_FLAGS";

// How the command ended.
struct CommandRun {
  int exit_code = 0;
  double seconds = 0.0;
  std::string output;
  std::string last_words;           // the last line of standard error
  std::uint64_t launches = 0;       // of the kernel, on the interpreter
  bool asked = false;               // for the runtime
  std::vector<std::string> faults;  // of kernels
  std::vector<std::string> notes;   // of the device
};

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  const std::size_t newline = text.rfind('\n');
  constexpr std::size_t kLongest = 200;
  if (newline != std::string_view::npos) text.remove_prefix(newline + 1);
  return std::string(text.substr(0, kLongest));
}

std::vector<std::string> whole_environment() {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    all.emplace_back(*entry);
  return all;
}

class PatchChecker {
 public:
  PatchChecker(const CheckRequest& request, const WinnerPatch& patch, const OpenedProblem& opened,
               const Installation& installation, const Cancellation& cancellation)
      : request_(request),
        patch_(patch),
        opened_(opened),
        installation_(installation),
        cancellation_(cancellation) {
    report_.command = request.command;
    report_.on_gpu = request.on_gpu;
  }

  CheckReport run() {
    if (const Status status = compare(); !status) report_.trouble = status.error().message;
    return std::move(report_);
  }

 private:
  Status compare() {
    if (patch_.report.patch.empty())
      return fail(ErrorCode::unsupported, "there is no patch: " + patch_.report.why_not);
    choose_folder();
    std::string note;
    auto copy = folder_beside(folder_, note);
    if (!copy) return copy.error();
    if (!note.empty()) report_.notes.push_back(note);
    copy_ = copy->path();
    auto words = TemporaryDirectory::create("regraph-check-");
    if (!words) return words.error();
    words_ = words->path();
    auto baseline = run_copy(false);
    if (!baseline) return baseline.error();
    report_.baseline_exit_code = baseline->exit_code;
    report_.baseline_seconds = baseline->seconds;
    if (baseline->exit_code != 0) return fails_anyway(*baseline);
    auto patched = run_copy(true);
    if (!patched) return patched.error();
    report_.patched_exit_code = patched->exit_code;
    report_.patched_seconds = patched->seconds;
    report_.ran = true;
    return judge(*baseline, *patched);
  }

  [[nodiscard]] Error fails_anyway(const CommandRun& baseline) const {
    std::string why = fmt::format("it ends with {} without the patch, too", baseline.exit_code);
    if (!baseline.last_words.empty()) why += ": " + baseline.last_words;
    if (!request_.on_gpu && !baseline.asked)
      why +=
          "; it did not ask for the CUDA runtime that stands in for libcudart, for which nvcc must "
          "link the program in this very command";
    return fail(ErrorCode::unsupported, why);
  }

  void choose_folder() {
    std::error_code failed;
    fs::path directory = fs::canonical(request_.directory, failed);
    if (failed) directory = patch_.source.parent_path();
    folder_ = folder_to_copy(directory, patch_.source);
    // All files that change have to be in it.
    for (const PatchedFile& file : patch_.files)
      folder_ = folder_to_copy(folder_, file.path);
    const fs::path below = directory.lexically_relative(folder_);
    const bool is_below = !below.empty() && *below.begin() != "..";
    inside_ = is_below ? below : fs::path(".");
    if (!is_below) report_.notes.push_back(fmt::format("it ran in a copy of {}", folder_.string()));
  }

  Result<CommandRun> run_copy(bool patched) {
    if (Status status = make_copy(patched); !status) return status.error();
    auto run = request_.on_gpu ? run_natively() : run_on_interpreter();
    if (cancellation_.requested()) return fail(ErrorCode::cancelled, "it was stopped");
    return run;
  }

  Status make_copy(bool patched) {
    empty_folder(copy_);
    auto left_out = copy_folder(folder_, copy_, CopyLimits{}, cancellation_);
    if (!left_out) return left_out.error();
    if (!patched) report_.notes.insert(report_.notes.end(), left_out->begin(), left_out->end());
    for (const PatchedFile& file : patch_.files) {
      const fs::path place = copy_ / file.path.lexically_relative(folder_);
      std::error_code failed;
      // What was built before is built again, for the runtime that is linked.
      if (!patched) {
        fs::last_write_time(place, fs::file_time_type::clock::now(), failed);
      } else if (Status status = write_file(place, file.text); !status) {
        return status;
      }
    }
    return {};
  }

  Result<CommandRun> run_natively() {
    ChildRequest shell;
    shell.program = "/bin/sh";
    shell.arguments = {"-c", request_.command};
    shell.environment = whole_environment();
    shell.working_directory = copy_ / inside_;
    shell.wall_seconds = request_.seconds;
    shell.output_limit_bytes = kMostCheckOutput;
    auto done = run_child(shell, cancellation_);
    if (!done) return done.error();
    if (done->end == ChildEnd::timed_out) return too_long();
    if (done->end == ChildEnd::output_limit)
      return fail(ErrorCode::resource, "it writes more than anybody reads");
    CommandRun run;
    run.exit_code = done->end == ChildEnd::signalled ? kSignalBase + done->signal : done->exit_code;
    run.seconds = done->wall_seconds;
    run.output = std::move(done->output);
    run.last_words = last_line(done->error);
    return run;
  }

  Result<CommandRun> run_on_interpreter() {
    capture::CaptureDeviceConfig config;
    config.facts = facts_of(opened_.device.device);
    config.launch_seconds = request_.seconds;
    capture::CaptureDevice device(config);
    capture::ProgramRun program{{"/bin/sh", "-c", request_.command},
                                installation_.capture_runtime(),
                                request_.seconds,
                                words_ / "output",
                                copy_ / inside_};
    program.errors = words_ / "errors";
    const char* const flags = std::getenv(kAppendFlags);
    program.variables = {fmt::format("{}={}{}-cudart shared", kAppendFlags,
                                     flags != nullptr ? flags : "", flags != nullptr ? " " : "")};
    const auto end = capture::capture_program(program, device, cancellation_);
    if (!end) return end.error();
    if (end->timed_out) return too_long();
    if (end->too_long_output) return fail(ErrorCode::resource, "it writes more than anybody reads");
    CommandRun run;
    run.exit_code = end->signal != 0 ? kSignalBase + end->signal : end->exit_code;
    run.seconds = end->seconds;
    run.asked = end->asked;
    auto output = read_file(program.output, kMostCheckOutput);
    if (!output) return output.error();
    run.output = std::move(*output);
    if (const auto errors = read_file(program.errors, kMostCheckOutput))
      run.last_words = last_line(*errors);
    run.notes = device.notes();
    for (const capture::LaunchedKernel* kernel : device.launched()) {
      if (capture::plain_name_of(kernel->symbol) ==
          source::unqualified_name(opened_.problem.signature.name))
        run.launches += kernel->launches;
      if (!kernel->fault.empty()) run.faults.push_back(kernel->fault);
    }
    return run;
  }

  [[nodiscard]] Error too_long() const {
    return fail(ErrorCode::resource,
                fmt::format("it does not end within {:g} s{}; give it more with --check-seconds",
                            request_.seconds, request_.on_gpu ? "" : " on the interpreter"));
  }

  Status judge(const CommandRun& baseline, const CommandRun& patched) {
    if (patched.exit_code != 0) {
      report_.trouble = fmt::format("it ends with {} with the patch", patched.exit_code);
      if (!patched.last_words.empty()) report_.trouble += ": " + patched.last_words;
      return {};
    }
    if (baseline.faults.empty() && !patched.faults.empty()) {
      report_.trouble = "a launch fails: " + patched.faults.front();
      return {};
    }
    if (!request_.on_gpu) report_.launches = patched.launches;
    if (baseline.launches > 0 && patched.launches == 0) {
      report_.trouble = "the kernel is not launched any more";
      return {};
    }
    if (report_.launches == 0u)
      report_.notes.insert(report_.notes.end(), patched.notes.begin(), patched.notes.end());
    report_.same = baseline.output == patched.output;
    if (report_.same) return {};
    // What it writes may be another thing every time.
    const auto again = run_copy(false);
    if (!again) {
      report_.ran = false;
      return again.error();
    }
    report_.trouble =
        capture::difference_of_outputs(baseline.output, again->output, patched.output);
    report_.same = report_.trouble.empty();
    if (!report_.same) report_.trouble = "what it writes is another: " + report_.trouble;
    return {};
  }

  const CheckRequest& request_;
  const WinnerPatch& patch_;
  const OpenedProblem& opened_;
  const Installation& installation_;
  const Cancellation& cancellation_;
  fs::path folder_;  // that is copied
  fs::path inside_;  // of the copy: where the command runs
  fs::path copy_;
  fs::path words_;  // what the command says goes here
  CheckReport report_;
};

bool is_in(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

}  // namespace

CheckReport check_patch(const CheckRequest& request, const WinnerPatch& patch,
                        const OpenedProblem& opened, const Installation& installation,
                        const Cancellation& cancellation) {
  return PatchChecker(request, patch, opened, installation, cancellation).run();
}

fs::path folder_to_copy(const fs::path& directory, const fs::path& source) {
  constexpr int kLevelsAbove = 2;
  constexpr std::ptrdiff_t kFewestNames = 4;  // "/home/user": not all that is below there
  if (directory.has_relative_path() && is_in(source, directory)) return directory;
  fs::path folder = directory;
  for (int level = 0; level < kLevelsAbove; ++level) {
    folder = folder.parent_path();
    if (std::distance(folder.begin(), folder.end()) < kFewestNames) break;
    if (is_in(source, folder)) return folder;
  }
  return source.parent_path();
}

}  // namespace regraph
