#include "session/patch_check.h"

#include "base/files.h"
#include "capture/problem/program_output.h"
#include "session/folder_copy.h"
#include "session/user_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace regraph {
namespace {

namespace fs = std::filesystem;

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
    auto baseline = run_copy(false);
    if (!baseline) return baseline.error();
    report_.baseline_exit_code = baseline->exit_code;
    report_.baseline_seconds = baseline->seconds;
    if (baseline->exit_code != 0) return fails_anyway(*baseline);
    auto patched = run_copy(true);
    if (!patched) return without_end(patched.error());
    report_.patched_exit_code = patched->exit_code;
    report_.patched_seconds = patched->seconds;
    report_.ran = true;
    return judge(*baseline, *patched);
  }

  // A program that ended soon and does not end with the patch behaves differently.
  Status without_end(const Error& error) {
    constexpr double kSoon = 0.25;
    if (error.code != ErrorCode::resource || report_.baseline_seconds > kSoon * request_.seconds)
      return error;
    report_.ran = true;
    report_.trouble = fmt::format("{} with the patch, and took {:.3g} s without", error.message,
                                  report_.baseline_seconds);
    return {};
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
    const UserCommand command{request_.command, copy_ / inside_, request_.seconds, request_.on_gpu};
    auto run = run_user_command(command, opened_, installation_, cancellation_);
    if (cancellation_.requested()) return fail(ErrorCode::cancelled, "it was stopped");
    return run;
  }

  Status make_copy(bool patched) {
    empty_folder(copy_);
    auto left_out = copy_folder(folder_, copy_, CopyLimits{}, cancellation_);
    if (!left_out) return left_out.error();
    const bool first = !report_.baseline_exit_code;
    if (first) report_.notes.insert(report_.notes.end(), left_out->begin(), left_out->end());
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
