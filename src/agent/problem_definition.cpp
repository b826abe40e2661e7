// What defines a problem: its id, what may not be in it, and how it is kept.
#include "agent/problem_shelf.h"
#include "base/json_text.h"
#include "kernel/front_matter.h"
#include "kernel/manifest.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regraph::agent {

namespace {

using DefinitionJson = nlohmann::ordered_json;

constexpr std::size_t kIdDigits = 16;
constexpr std::size_t kDefinitionBytes = std::size_t{1} << 20;

// What the two files beside it do not hold.
DefinitionJson rest_of(const ProblemDefinition& definition) {
  return {{"kernel", definition.kernel},           {"sizes", definition.sizes},
          {"defines", definition.defines},         {"block", definition.block},
          {"launch_line", definition.launch_line}, {"device", definition.device},
          {"evaluator", definition.evaluator}};
}

std::string place(std::string_view id, const char* file) {
  return fmt::format("problems/{}/{}", id, file);
}

// Buffers that a manifest fills from files of this machine.
Status check_files(std::string_view yaml) {
  const auto manifest = parse_manifest(yaml, "the manifest");
  if (!manifest) return {};  // whoever opens the problem says what is wrong with it
  bool files = !manifest->captured.empty();
  for (const auto& [name, argument] : manifest->arguments)
    files = files || (argument.init && argument.init->kind == BufferInit::Kind::file);
  if (!files) return {};
  return fail(ErrorCode::invalid_argument,
              "the manifest takes data from files, which no agent may name here; describe the "
              "inputs instead, e.g. init: U(0,1)");
}

}  // namespace

std::string problem_id(const ProblemDefinition& definition) {
  const Hash128 hash = Hasher()
                           .add(definition.source)
                           .add(definition.manifest)
                           .add(json_line(rest_of(definition)))
                           .finish();
  return hash.hex().substr(0, kIdDigits);
}

Status check_definition(const ProblemDefinition& definition) {
  const auto plain = [](const char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           c == '-';
  };
  // A path could be a file's.
  if (!std::ranges::all_of(definition.device, plain) || definition.device.size() > 64) {
    return fail(ErrorCode::invalid_argument,
                "'device' must be a name such as h200 or an architecture such as sm_90");
  }
  if (Status none = check_files(definition.manifest); !none) return none;
  if (const auto front = find_front_matter(definition.source)) return check_files(front->yaml);
  return {};
}

Status ProblemShelf::write_definition(const std::string& id,
                                      const ProblemDefinition& definition) const {
  if (Status written = workspace_.write(place(id, "kernel.cu"), definition.source); !written)
    return written;
  if (!definition.manifest.empty()) {
    Status written = workspace_.write(place(id, "kernel.regraph.yaml"), definition.manifest);
    if (!written) return written;
  }
  return workspace_.write(place(id, "problem.json"), json_line(rest_of(definition)) + '\n');
}

Result<ProblemDefinition> ProblemShelf::read_definition(std::string_view id) const {
  const auto unknown = [&] {
    return fail(ErrorCode::not_found,
                fmt::format("there is no problem '{}'; open_problem gives ids", id.substr(0, 64)));
  };
  const bool digits =
      id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!digits) return unknown();
  const auto source = workspace_.read(place(id, "kernel.cu"));
  const auto rest = workspace_.read(place(id, "problem.json"));
  if (!source || !rest) return unknown();
  ProblemDefinition definition;
  definition.source = *source;
  if (workspace_.has(place(id, "kernel.regraph.yaml"))) {
    auto manifest = workspace_.read(place(id, "kernel.regraph.yaml"));
    if (!manifest) return std::move(manifest).error();
    definition.manifest = *std::move(manifest);
  }
  const auto json = parse_json(*rest, {kDefinitionBytes, 4});
  if (!json) return unknown();
  try {
    definition.kernel = json->at("kernel").get<std::string>();
    definition.sizes = json->at("sizes").get<std::vector<std::string>>();
    definition.defines = json->at("defines").get<std::vector<std::string>>();
    definition.block = json->at("block").get<std::string>();
    definition.launch_line = json->at("launch_line").get<int>();
    definition.device = json->at("device").get<std::string>();
    definition.evaluator = json->at("evaluator").get<std::string>();
  } catch (const nlohmann::json::exception&) {
    return unknown();
  }
  if (problem_id(definition) == id) return definition;
  return fail(ErrorCode::not_found,
              fmt::format("the files of problem '{}' were changed; open it again", id));
}

}  // namespace regraph::agent
