#include "report/run_directory.h"

#include "base/files.h"
#include "base/unified_diff.h"
#include "kernel/manifest.h"
#include "report/likely_answer.h"
#include "report/t4_json.h"

#include <cerrno>
#include <cstdlib>
#include <system_error>
#include <utility>
#include <vector>

namespace regraph {
namespace {

// Directory numbers tried before giving up; thousands of kept runs are a mistake.
constexpr int kMostRuns = 100000;

// A kernel's name as part of a file name: 'ns::scale<float>' holds signs a shell would trip over.
std::string file_name(const std::string& kernel) {
  std::string result;
  for (const char c : kernel) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain || c == '_') {
      result += c;
    } else if (!result.empty() && result.back() != '_') {
      result += '_';
    }
  }
  return result.empty() ? "kernel" : result;
}

constexpr const char* kRuns = "regraph-runs";

// A place that cannot be written to was badly chosen; a full or broken disk is the system's.
Error cannot_create(const std::string& wanted, const std::error_code& error) {
  const bool systems = error == std::errc::no_space_on_device || error == std::errc::io_error ||
                       error == std::errc::too_many_files_open ||
                       error == std::errc::not_enough_memory;
  if (systems) return fail(ErrorCode::io, "cannot create '" + wanted + "': " + error.message());
  const std::string reason = "cannot be created or written to: " + error.message();
  if (wanted.empty() || wanted == kRuns) {
    return fail(ErrorCode::invalid_argument,
                std::string("'") + kRuns + "', where results go, " + reason +
                    "; name a folder that can be written to with --output, or start elsewhere");
  }
  return fail(ErrorCode::invalid_argument,
              "--output " + wanted + " " + reason + "; name a folder that can be written to");
}

// Nothing is overwritten: an existing directory must be empty.
Status require_unused(const std::string& wanted) {
  std::error_code error;
  const std::filesystem::path path(wanted);
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return {};
  if (!std::filesystem::is_directory(status)) {
    return fail(ErrorCode::invalid_argument,
                "--output " + wanted + " is a file; name another directory");
  }
  const bool empty = std::filesystem::is_empty(path, error);
  if (error) return cannot_create(wanted, error);
  if (empty) return {};
  return fail(ErrorCode::invalid_argument, "--output " + wanted +
                                               " exists and is not empty; nothing is overwritten: "
                                               "name another directory or remove it");
}

}  // namespace

Status try_run_directory(const std::string& wanted) {
  if (Status unused = wanted.empty() ? Status() : require_unused(wanted); !unused) return unused;
  const std::string shown = wanted.empty() ? kRuns : wanted;
  std::error_code error;
  std::vector<std::filesystem::path> made;  // the innermost last
  std::vector<std::filesystem::path> absent;
  for (std::filesystem::path path = std::filesystem::absolute(shown, error);
       !path.empty() && !std::filesystem::exists(path, error) && path != path.parent_path();
       path = path.parent_path()) {
    if (path.has_filename()) absent.push_back(path);
  }
  error.clear();
  for (auto path = absent.rbegin(); path != absent.rend(); ++path) {
    // False without an error: another process was quicker, and it stays.
    if (std::filesystem::create_directory(*path, error)) made.push_back(*path);
    if (error) break;
  }
  std::error_code ignored;
  if (!error) {
    // Under a name of its own, so that runs which start side by side do not see each other's.
    std::string probe = (std::filesystem::path(shown) / ".regraph-XXXXXX").string();
    if (::mkdtemp(probe.data()) == nullptr) {
      error.assign(errno, std::generic_category());
    } else {
      std::filesystem::remove(probe, ignored);
    }
  }
  for (auto path = made.rbegin(); path != made.rend(); ++path)
    std::filesystem::remove(*path, ignored);
  return error ? Status(cannot_create(shown, error)) : Status();
}

Result<std::filesystem::path> create_run_directory(const std::string& wanted,
                                                   const std::string& kernel) {
  std::error_code error;
  if (!wanted.empty()) {
    if (Status unused = require_unused(wanted); !unused) return unused.error();
    std::filesystem::create_directories(wanted, error);
    if (error) return cannot_create(wanted, error);
    return std::filesystem::path(wanted);
  }
  std::filesystem::create_directories(kRuns, error);
  if (error) return cannot_create(kRuns, error);
  for (int number = 1; number < kMostRuns; ++number) {
    const std::filesystem::path path =
        std::filesystem::path(kRuns) / (file_name(kernel) + "-" + std::to_string(number));
    // Creating is the test, so that two runs at once get different directories.
    if (std::filesystem::create_directory(path, error)) return path;
    if (error) return cannot_create(kRuns, error);
  }
  return fail(ErrorCode::resource, "'regraph-runs' holds too many runs of '" + kernel + "'");
}

void abandon_run_directory(const std::filesystem::path& directory) {
  std::error_code ignored;
  std::filesystem::remove(directory, ignored);  // fails, as it should, when files are in it
  if (directory.parent_path() == kRuns) {
    std::filesystem::remove(directory.parent_path(), ignored);
  }
}

Status write_run_directory(const RunReport& report) {
  const std::filesystem::path directory(report.directory);
  const Problem& problem = report.problem;
  const Candidate& best = report.outcome.best;
  const std::string& best_source = report.outcome.improved() ? best.source : problem.source;
  const LaunchPlan& best_plan = report.outcome.improved() ? best.plan : problem.launch;
  const std::string name = std::filesystem::path(problem.source_path).filename().string();
  const std::pair<std::string, std::string> files[] = {
      {report.kernel_file("best"), best_source},
      {"best.regraph.yaml", write_manifest(problem, best_plan)},
      {"best.diff", unified_diff(problem.source, best_source, "a/" + name, "b/" + name)},
      {"manifest.yaml", write_manifest(problem, problem.launch)},
      {"result.json", result_json(report)},
      {"results.t4.json", t4_json(report)},
  };
  const bool patched =
      report.outcome.improved() && report.hand_back && !report.hand_back->patch.empty();
  if (patched) {
    if (Status status = write_file(directory / "best.patch", report.hand_back->patch); !status)
      return status;
  }
  if (const auto likely = likely_answer(report)) {
    const Candidate& candidate = *likely->state->candidate;
    if (Status status = write_file(directory / report.kernel_file("likely"), candidate.source);
        !status)
      return status;
    if (Status status =
            write_file(directory / "likely.regraph.yaml", write_manifest(problem, candidate.plan));
        !status)
      return status;
  }
  // Kernels that were made of something else stand in no file of the user's.
  if (!problem.source_path.ends_with(".cu")) {
    if (Status status = write_file(directory / report.kernel_file("original"), problem.source);
        !status)
      return status;
  }
  for (const auto& [file, content] : files) {
    if (Status status = write_file(directory / file, content); !status) return status;
  }
  return {};
}

}  // namespace regraph
