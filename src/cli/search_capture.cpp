#include "cli/search_capture.h"

#include "eval/model/device.h"
#include "session/kept_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace regraph::cli {
namespace {

// A folder for the capture of that file that is not there yet: regraph-capture/main-1.
std::filesystem::path capture_folder(const std::filesystem::path& file) {
  std::error_code ignored;
  for (int number = 1;; ++number) {
    auto folder = std::filesystem::path("regraph-capture") /
                  fmt::format("{}-{}", file.stem().string(), number);
    if (!std::filesystem::exists(folder, ignored)) return folder;
  }
}

}  // namespace

Result<void, SessionError> capture_first(const Program& program,
                                         const std::vector<std::vector<std::string>>& commands,
                                         SearchOptions& options) {
  ProblemOptions& problem = options.session.problem;
  KeepRequest request;
  request.commands = commands;
  request.build = problem.kernel_file;
  request.include_directories.assign(problem.include_directories.begin(),
                                     problem.include_directories.end());
  request.keep.folder = capture_folder(problem.kernel_file);
  request.keep.kernel = problem.kernel;
  // Another GPU than the one that is here is named; a table of numbers is no device to run on.
  if (!options.session.device.empty() && find_device(options.session.device))
    request.device = options.session.device;
  if (!options.quiet) say("building and running " + problem.kernel_file + " without a GPU\n");
  auto kept = keep_program(request, program.installation(), program.interrupted());
  if (!kept) return std::move(kept).error();
  if (!options.quiet) {
    for (const std::string& note : kept->notes)
      say("note: " + note + "\n");
  }
  const auto usable = std::ranges::find_if(
      kept->folders, [](const auto& folder) { return !folder.kernel.source.empty(); });
  if (usable == kept->folders.end()) {
    return SessionError{FailureCause::unusable_kernel,
                        problem.kernel_file + ": no launch of such a kernel was kept"};
  }
  const auto is_work = [](const auto& folder) {
    return static_cast<double>(folder.kernel.thread_instructions);
  };
  double work = 0.0;
  for (const auto& folder : kept->folders)
    work += is_work(folder);
  if (!options.quiet) {
    say(fmt::format("captured in {}: {:.0f} % of the work of {} kernels\n", usable->path.string(),
                    100.0 * is_work(*usable) / std::max(work, 1.0), kept->folders.size()));
  }
  problem.kernel_file = usable->path.string();
  problem.kernel.clear();
  return {};
}

}  // namespace regraph::cli
