#include "regraph/regraph_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <limits>

namespace regraph {

namespace {

// Numbers are written as the shortest text that reads back as the same double.
std::string number_text(double value) {
  return fmt::format("{}", value);
}

void write_text(YAML::Emitter& out, const char* key, const std::string& text) {
  out << YAML::Key << key << YAML::Value << YAML::DoubleQuoted << text;
}

void write_texts(YAML::Emitter& out, const std::vector<std::string>& texts) {
  out << YAML::Flow << YAML::BeginSeq;
  for (const std::string& text : texts)
    out << YAML::DoubleQuoted << text;
  out << YAML::EndSeq;
}

void write_learned(YAML::Emitter& out, const LearnedGains& learned) {
  if (learned.empty()) return;
  out << YAML::Key << "learned" << YAML::Value << YAML::BeginMap;
  for (const TimeMethod method : {TimeMethod::predicted, TimeMethod::measured}) {
    if (learned.by(method).empty()) continue;
    out << YAML::Key << name(method) << YAML::Value << YAML::BeginMap;
    for (const auto& [device, entry] : learned.by(method)) {
      out << YAML::Key << YAML::DoubleQuoted << device << YAML::Value;
      out << YAML::Flow << YAML::BeginMap;
      out << YAML::Key << "families" << YAML::Value << entry.families;
      out << YAML::Key << "kernels" << YAML::Value << entry.kernels;
      out << YAML::Key << "observations" << YAML::Value << entry.observations;
      out << YAML::Key << "sum_positive" << YAML::Value << number_text(entry.sum_positive);
      out << YAML::Key << "tries" << YAML::Value << entry.tries;
      out << YAML::Key << "verified" << YAML::Value << entry.verified;
      out << YAML::Key << "sum_log_gain" << YAML::Value << number_text(entry.sum_log_gain);
      out << YAML::EndMap;
    }
    out << YAML::EndMap;
  }
  out << YAML::EndMap;
}

void write_step(YAML::Emitter& out, const Step& step) {
  out << YAML::BeginMap;
  write_text(out, "id", step.id);
  write_text(out, "name", step.name);
  if (!step.aliases.empty()) {
    out << YAML::Key << "aliases" << YAML::Value;
    write_texts(out, step.aliases);
  }
  write_text(out, "what", step.what);
  write_text(out, "legality", step.legality);
  if (!step.parameters.empty()) {
    out << YAML::Key << "parameters" << YAML::Value << YAML::BeginMap;
    for (const auto& [name, values] : step.parameters) {
      out << YAML::Key << YAML::DoubleQuoted << name << YAML::Value;
      write_texts(out, values);
    }
    out << YAML::EndMap;
  }
  if (!step.evidence.empty()) {
    out << YAML::Key << "evidence" << YAML::Value << YAML::BeginSeq;
    for (const EvidenceCondition& condition : step.evidence) {
      out << YAML::Flow << YAML::BeginMap;
      out << YAML::Key << "fact" << YAML::Value << condition.fact;
      write_text(out, "op", name(condition.comparison));
      out << YAML::Key << "value" << YAML::Value << number_text(condition.value);
      out << YAML::Key << "weight" << YAML::Value << number_text(condition.weight);
      if (condition.required) out << YAML::Key << "required" << YAML::Value << "true";
      out << YAML::EndMap;
    }
    out << YAML::EndSeq;
  }
  if (!step.needs.empty()) {
    out << YAML::Key << "needs" << YAML::Value;
    write_texts(out, step.needs);
  }
  out << YAML::Key << "rewriter" << YAML::Value << (step.rewriter ? "true" : "false");
  write_text(out, "instruction", step.instruction);
  if (step.candidate) out << YAML::Key << "candidate" << YAML::Value << "true";
  write_learned(out, step.learned);
  out << YAML::EndMap;
}

void write_example(YAML::Emitter& out, const TransitionExample& example) {
  out << YAML::BeginMap;
  write_text(out, "name", example.name);
  write_text(out, "kernel", example.kernel);
  write_text(out, "family", example.family);
  write_text(out, "run", example.run);
  write_text(out, "device", example.device);
  out << YAML::Key << "method" << YAML::Value << name(example.method);
  out << YAML::Key << "log_gain" << YAML::Value << number_text(example.log_gain);
  write_text(out, "before", example.before);
  write_text(out, "after", example.after);
  out << YAML::EndMap;
}

void write_transition(YAML::Emitter& out, const StepGraph::TransitionView& view) {
  const Transition& transition = view.transition;
  if (transition.learned.empty() && transition.examples.empty()) out << YAML::Flow;
  out << YAML::BeginMap;
  write_text(out, "from", std::string(view.from));
  write_text(out, "to", std::string(view.to));
  out << YAML::Key << "gain" << YAML::Value << number_text(transition.expected_speedup);
  out << YAML::Key << "weight" << YAML::Value << number_text(transition.prior_weight);
  write_learned(out, transition.learned);
  if (!transition.examples.empty()) {
    out << YAML::Key << "examples" << YAML::Value << YAML::BeginSeq;
    for (const TransitionExample& example : transition.examples)
      write_example(out, example);
    out << YAML::EndSeq;
  }
  out << YAML::EndMap;
}

}  // namespace

std::string regraph_text(const StepGraph& graph) {
  YAML::Emitter out;
  out << YAML::BeginMap << YAML::Key << "format" << YAML::Value << "regraph/1";
  if (!graph.learned_from().empty()) write_text(out, "learned_from", graph.learned_from());
  out << YAML::Key << "steps" << YAML::Value << YAML::BeginSeq;
  for (const Step* step : graph.steps())
    write_step(out, *step);
  out << YAML::EndSeq;
  out << YAML::Key << "transitions" << YAML::Value << YAML::BeginSeq;
  for (const StepGraph::TransitionView& view : graph.transitions())
    write_transition(out, view);
  out << YAML::EndSeq << YAML::EndMap;
  return std::string(out.c_str(), out.size()) + "\n";
}

Status save_regraph(const StepGraph& graph, const std::filesystem::path& path) {
  std::filesystem::path temporary = path;
  temporary += ".part";
  {
    std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
    file << regraph_text(graph);
    file.close();
    if (!file) return fail(ErrorCode::io, temporary.string() + ": cannot be written");
  }
  std::error_code error;
  std::filesystem::rename(temporary, path, error);
  if (error) return fail(ErrorCode::io, path.string() + ": " + error.message());
  return {};
}

}  // namespace regraph
