#include "session/load_graph.h"

#include "base/files.h"
#include "regraph/regraph_yaml.h"
#include "regraph/regrapht_json.h"

#include <filesystem>

namespace regraph {

namespace {

constexpr std::size_t kGraphLimitBytes = std::size_t{256} << 20;

}  // namespace

Result<StepGraph> load_graph(const std::string& file, const Installation& installation) {
  if (file == kPublishedGraph) {
    auto shipped = load_regraph(installation.shipped("cuda.yaml"));
    if (!shipped) return shipped;
    return shipped->published();
  }
  const bool foreign = std::filesystem::path(file).extension() == ".json";
  if (!file.empty() && !foreign) return load_regraph(file);
  auto shipped = load_regraph(installation.shipped("cuda.yaml"));
  if (!shipped || !foreign) return shipped;
  const auto text = read_file(file, kGraphLimitBytes);
  if (!text) return text.error();
  const auto read = parse_regrapht(*text, file);
  if (!read) return read.error();
  auto graph = to_regraph(*read, *shipped);
  if (!graph) return fail(ErrorCode::parse, file + ": " + graph.error().message);
  return graph;
}

Status export_graph(const std::string& file, const std::string& target,
                    const Installation& installation) {
  const std::string ending = std::filesystem::path(target).extension().string();
  const bool yaml = ending == ".yaml" || ending == ".yml";
  if (!yaml && ending != ".json") {
    return fail(ErrorCode::invalid_argument,
                "--export-graph " + target + ": name a file that ends in .json or .yaml");
  }
  const auto graph = load_graph(file, installation);
  if (!graph) return graph.error();
  return write_file(target, yaml ? regraph_text(*graph) : regrapht_text(from_regraph(*graph)));
}

}  // namespace regraph
