#include "fleet/problem_text.h"

#include "fleet/text_parts.h"
#include "search/journal_rows.h"

#include <utility>

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "regraph-fleet:";

// What may be the last part of a path, and nothing else.
bool is_file_name(const std::string& name) {
  return !name.empty() && name.size() <= 200 && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
}

}  // namespace

std::string travelling_name(const ProblemFile& file) {
  return std::string(kPrefix) + file.id.hex() + "/" + file.name;
}

ProblemText problem_text(const RunDescription& description, std::vector<ProblemFile> files) {
  SearchConfig config;
  config.device = description.config.device;
  config.device_table = description.config.device_table;
  config.evaluator = description.config.evaluator;
  config.seed = description.config.seed;
  config.evaluation_wall_seconds = description.config.evaluation_wall_seconds;
  Json head = Json::object();
  head["kernel"] = description.kernel;
  head["source_path"] = description.source_path;
  head["manifest"] = description.manifest;
  head["config"] = config_text(config);
  head["files"] = Json::array();
  for (const ProblemFile& file : files)
    head["files"].push_back({file.id.hex(), file.name});
  ProblemText problem;
  problem.text = join_parts(head, description.source);
  problem.id = hash_text(problem.text);
  problem.files = std::move(files);
  return problem;
}

Result<RunDescription> read_problem_text(std::string_view text) {
  auto parts = split_parts(text);
  if (!parts) return std::move(parts).error();
  RunDescription description;
  std::string config;
  const std::pair<const char*, std::string*> fields[] = {
      {"kernel", &description.kernel},
      {"source_path", &description.source_path},
      {"manifest", &description.manifest},
      {"config", &config},
  };
  for (const auto& [key, value] : fields) {
    const auto found = parts->head.find(key);
    if (found == parts->head.end() || !found->is_string())
      return fail(ErrorCode::parse, std::string("a problem without its ") + key);
    *value = found->get<std::string>();
  }
  auto read = read_config(config);
  if (!read) return fail(ErrorCode::parse, "a problem whose settings cannot be read");
  description.config = std::move(*read);
  description.source = parts->body;
  return description;
}

Result<std::vector<ProblemFile>> problem_files(std::string_view text) {
  const auto parts = split_parts(text);
  if (!parts) return parts.error();
  const Error odd = fail(ErrorCode::parse, "a problem whose files cannot be read");
  const auto found = parts->head.find("files");
  if (found == parts->head.end() || !found->is_array() || found->size() > kMostProblemFiles)
    return odd;
  std::vector<ProblemFile> files;
  for (const Json& entry : *found) {
    const bool shaped =
        entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string();
    if (!shaped) return odd;
    const auto id = journal::read_hash(entry[0].get<std::string>());
    const auto name = entry[1].get<std::string>();
    if (!id || !is_file_name(name)) return odd;
    files.push_back({*id, name, {}});
  }
  return files;
}

Result<std::string> with_files_in(std::string_view text, const std::filesystem::path& folder) {
  auto parts = split_parts(text);
  if (!parts) return std::move(parts).error();
  const auto found = parts->head.find("manifest");
  if (found == parts->head.end() || !found->is_string())
    return fail(ErrorCode::parse, "a problem without its manifest");
  std::string manifest = found->get<std::string>();
  const std::string here = folder.string() + "/";
  for (std::size_t at = manifest.find(kPrefix); at != std::string::npos;
       at = manifest.find(kPrefix, at + here.size()))
    manifest.replace(at, kPrefix.size(), here);
  *found = std::move(manifest);
  return join_parts(parts->head, parts->body);
}

}  // namespace regraph::fleet
