#include "hostile/hostile_suite.h"

#include "base/files.h"
#include "kernel/manifest.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cstdio>

namespace regraph::test {
namespace {

constexpr std::size_t kLargestFile = 64 << 10;

std::string text_of(const YAML::Node& node) {
  YAML::Emitter emitter;
  emitter << node;
  return emitter.c_str();
}

// "const float* in".
Result<Parameter> parse_parameter(const std::string& text) {
  Parameter parameter;
  const std::size_t space = text.rfind(' ');
  if (space == std::string::npos) return fail(ErrorCode::parse, "not a parameter: " + text);
  parameter.name = text.substr(space + 1);
  std::string type = text.substr(0, space);
  constexpr std::string_view kConst = "const ";
  if (type.starts_with(kConst)) {
    parameter.points_to_const = true;
    type.erase(0, kConst.size());
  }
  if (type.ends_with("*")) {
    parameter.is_pointer = true;
    type.pop_back();
  }
  const auto scalar = scalar_type_from_cuda_name(type);
  if (!scalar) return fail(ErrorCode::parse, "an unknown type: " + text);
  parameter.type = *scalar;
  return parameter;
}

Result<KernelSignature> parse_signature(const std::string& kernel, const YAML::Node& parameters) {
  KernelSignature signature;
  signature.name = kernel;
  for (const YAML::Node& text : parameters) {
    auto parameter = parse_parameter(text.as<std::string>());
    if (!parameter.ok()) return parameter.error();
    signature.parameters.push_back(std::move(*parameter));
  }
  return signature;
}

Result<Problem> make_suite_problem(const YAML::Node& node, const std::string& name,
                                   const std::string& source) {
  const auto manifest = parse_manifest(text_of(node["manifest"]), "hostile.yaml: " + name);
  if (!manifest.ok()) return manifest.error();
  std::vector<KernelSignature> signatures;
  if (node["parameters"]) {
    auto signature = parse_signature("k", node["parameters"]);
    if (!signature.ok()) return signature.error();
    return make_problem(*manifest, *signature, "original.cu", source);
  }
  for (const auto& entry : node["kernels"]) {
    auto signature = parse_signature(entry.first.as<std::string>(), entry.second);
    if (!signature.ok()) return signature.error();
    signatures.push_back(std::move(*signature));
  }
  return make_problem_of_launches(*manifest, signatures, "original.cu", source);
}

// The manifest's own reader knows what a launch is.
Result<LaunchPlan> parse_plan(const YAML::Node& entry, const LaunchPlan& original) {
  if (!entry["launch"] && !entry["launches"]) return original;
  YAML::Node said;
  for (const char* key : {"launch", "launches"}) {
    if (entry[key]) said[key] = entry[key];
  }
  const auto manifest = parse_manifest(text_of(said), "hostile.yaml");
  if (!manifest.ok()) return manifest.error();
  LaunchPlan plan;
  if (manifest->launch) plan.launches.push_back(*manifest->launch);
  for (const ManifestLaunch& launch : manifest->launches)
    plan.launches.push_back(launch.launch);
  for (Launch& launch : plan.launches) {
    if (launch.kernel.empty()) launch.kernel = "k";
  }
  return plan;
}

Result<std::vector<Verdict>> parse_verdicts(const YAML::Node& node) {
  std::vector<Verdict> verdicts;
  if (!node) return verdicts;
  std::vector<std::string> names;
  if (node.IsSequence()) {
    names = node.as<std::vector<std::string>>();
  } else {
    names.push_back(node.as<std::string>());
  }
  for (const std::string& wanted : names) {
    for (int i = 0; i < kVerdictCount; ++i) {
      if (wanted == name(static_cast<Verdict>(i))) verdicts.push_back(static_cast<Verdict>(i));
    }
  }
  if (verdicts.size() != names.size()) return fail(ErrorCode::parse, "an unknown verdict");
  return verdicts;
}

Result<SuiteCandidate> make_candidate(const YAML::Node& entry, const std::string& name,
                                      bool hostile, const Problem& problem) {
  SuiteCandidate one;
  one.name = name;
  one.hostile = hostile;
  auto source = read_file(suite_directory() / (name + ".cu"), kLargestFile);
  if (!source.ok()) return source.error();
  one.candidate.source = std::move(*source);
  auto plan = parse_plan(entry, problem.launch);
  if (!plan.ok()) return plan.error();
  one.candidate.plan = std::move(*plan);
  one.candidate.identity = candidate_identity(one.candidate.source, one.candidate.plan);
  if (!hostile) {
    one.model = one.gpu = one.alone = {Verdict::correct};
    return one;
  }
  auto model = parse_verdicts(entry["is"]);
  auto gpu = parse_verdicts(entry["gpu"] ? entry["gpu"] : entry["is"]);
  auto alone = parse_verdicts(entry["alone"]);
  if (!model.ok() || !gpu.ok() || !alone.ok() || model->empty()) {
    return fail(ErrorCode::parse, name + ": no verdict, or an unknown one");
  }
  one.model = std::move(*model);
  one.gpu = std::move(*gpu);
  one.alone = std::move(*alone);
  if (entry["says"]) one.says = entry["says"].as<std::string>();
  return one;
}

}  // namespace

std::filesystem::path suite_directory() {
  const std::filesystem::path here = REGRAPH_SOURCE_DIR "/tests/hostile";
  std::error_code ignored;
  if (std::filesystem::exists(here / "hostile.yaml", ignored)) return here;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return program.parent_path().parent_path() / "hostile";
}

std::vector<std::string> suite_problems() {
  std::vector<std::string> names;
  try {
    for (const auto& entry : YAML::LoadFile(suite_directory() / "hostile.yaml"))
      names.push_back(entry.first.as<std::string>());
  } catch (const YAML::Exception&) {
    names.clear();
  }
  return names;
}

Result<SuiteProblem> load_suite_problem(const std::string& name) {
  try {
    const YAML::Node node = YAML::LoadFile(suite_directory() / "hostile.yaml")[name];
    if (!node) return fail(ErrorCode::not_found, "no problem " + name);
    const auto source = read_file(suite_directory() / name / "original.cu", kLargestFile);
    if (!source.ok()) return source.error();
    auto problem = make_suite_problem(node, name, *source);
    if (!problem.ok()) return problem.error();
    SuiteProblem suite{name, std::move(*problem), {}};
    for (const char* kind : {"hostile", "honest"}) {
      for (const auto& entry : node[kind]) {
        const std::string path = fmt::format("{}/{}/{}", name, kind, entry.first.as<std::string>());
        const YAML::Node details = entry.second.IsMap() ? entry.second : YAML::Load("{}");
        auto candidate =
            make_candidate(details, path, std::string(kind) == "hostile", suite.problem);
        if (!candidate.ok()) return candidate.error();
        suite.candidates.push_back(std::move(*candidate));
      }
    }
    return suite;
  } catch (const YAML::Exception& error) {
    return fail(ErrorCode::parse, name + ": " + error.what());
  }
}

std::string SuiteTally::count(const SuiteCandidate& candidate, const std::vector<Verdict>& right,
                              Verdict verdict, const std::string& message) {
  std::string trouble;
  if (std::find(right.begin(), right.end(), verdict) == right.end()) {
    trouble = fmt::format("{} is {}: {}", candidate.name, name(verdict), message);
  } else if (message.find(candidate.says) == std::string::npos) {
    trouble = fmt::format("{} does not speak of '{}': {}", candidate.name, candidate.says, message);
  }
  ++(candidate.hostile ? hostile_ : honest_);
  if (trouble.empty()) {
    ++(candidate.hostile ? caught_ : passed_);
  } else {
    wrong_ += "\n  " + trouble;
  }
  std::printf("%-50s %-18s %.180s\n", candidate.name.c_str(), name(verdict), message.c_str());
  return trouble;
}

std::string SuiteTally::text() const {
  return fmt::format("caught {} of {} hostile, passed {} of {} honest{}", caught_, hostile_,
                     passed_, honest_, wrong_);
}

}  // namespace regraph::test
