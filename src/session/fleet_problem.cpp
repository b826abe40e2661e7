#include "session/fleet_problem.h"

#include "base/files.h"
#include "kernel/captured_data.h"
#include "kernel/manifest.h"

#include <map>
#include <vector>

namespace regraph {
namespace {

// Gives the files that a problem names their travelling names.
class FileCollector {
 public:
  Status take(std::string& file) {
    const auto known = names_.find(file);
    if (known != names_.end()) {
      file = known->second;
      return {};
    }
    const auto bytes = read_file(file, kMostCapturedBytes);
    if (!bytes) return bytes.error();
    const std::filesystem::path path(file);
    files_.push_back({hash_text(*bytes), path.filename().string(), path});
    file = names_[file] = fleet::travelling_name(files_.back());
    return {};
  }
  std::vector<fleet::ProblemFile> files() { return std::move(files_); }

 private:
  std::map<std::string, std::string> names_;  // by path
  std::vector<fleet::ProblemFile> files_;
};

}  // namespace

Result<fleet::ProblemText> fleet_problem(const OpenedProblem& opened, const std::string& evaluator,
                                         const OpenOptions& options) {
  Problem problem = opened.problem;
  FileCollector collector;
  for (CapturedCase& one : problem.captured) {
    for (auto& [name, content] : one.contents)
      if (Status taken = collector.take(content.file); !taken) return std::move(taken).error();
  }
  for (Argument& argument : problem.arguments) {
    if (argument.init.kind != BufferInit::Kind::file) continue;
    if (Status taken = collector.take(argument.init.content.file); !taken)
      return std::move(taken).error();
  }
  RunDescription description;
  description.kernel = problem.signature.name;
  description.source_path = problem.source_path;
  description.source = problem.source;
  description.manifest = write_manifest(problem, problem.launch);
  description.config.device = opened.device.device.name;
  description.config.device_table = opened.device.table;
  description.config.evaluator = evaluator;
  description.config.seed = options.seed;
  description.config.evaluation_wall_seconds = options.evaluation_seconds;
  return fleet::problem_text(description, collector.files());
}

}  // namespace regraph
