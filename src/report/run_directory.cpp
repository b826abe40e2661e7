#include "report/run_directory.h"

#include "base/files.h"
#include "kernel/manifest.h"
#include "report/t4_json.h"
#include "report/unified_diff.h"

#include <system_error>
#include <utility>

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

}  // namespace

Result<std::filesystem::path> create_run_directory(const std::string& wanted,
                                                   const std::string& kernel) {
  std::error_code error;
  if (!wanted.empty()) {
    const std::filesystem::path path(wanted);
    const auto status = std::filesystem::status(path, error);
    if (std::filesystem::exists(status) && !std::filesystem::is_directory(status)) {
      return fail(ErrorCode::invalid_argument,
                  "output directory '" + wanted + "' is a file; name another directory");
    }
    if (std::filesystem::exists(status) && !std::filesystem::is_empty(path, error) && !error) {
      return fail(ErrorCode::invalid_argument, "output directory '" + wanted +
                                                   "' exists and is not empty; nothing is "
                                                   "overwritten: name another or remove it");
    }
    if (error && std::filesystem::exists(status)) {
      return fail(ErrorCode::io, "'" + wanted + "': " + error.message());
    }
    std::filesystem::create_directories(path, error);
    if (error) return fail(ErrorCode::io, "cannot create '" + wanted + "': " + error.message());
    return path;
  }
  std::filesystem::create_directories("regraph-runs", error);
  if (error) return fail(ErrorCode::io, "cannot create 'regraph-runs': " + error.message());
  for (int number = 1; number < kMostRuns; ++number) {
    const std::filesystem::path path =
        std::filesystem::path("regraph-runs") / (file_name(kernel) + "-" + std::to_string(number));
    // Creating is the test, so that two runs at once get different directories.
    if (std::filesystem::create_directory(path, error)) return path;
    if (error)
      return fail(ErrorCode::io, "cannot create '" + path.string() + "': " + error.message());
  }
  return fail(ErrorCode::resource, "'regraph-runs' holds too many runs of '" + kernel + "'");
}

void abandon_run_directory(const std::filesystem::path& directory) {
  std::error_code ignored;
  std::filesystem::remove(directory, ignored);  // fails, as it should, when files are in it
  if (directory.parent_path() == "regraph-runs") {
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
  const std::pair<const char*, std::string> files[] = {
      {"best.cu", best_source},
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
  for (const auto& [file, content] : files) {
    if (Status status = write_file(directory / file, content); !status) return status;
  }
  return {};
}

}  // namespace regraph
