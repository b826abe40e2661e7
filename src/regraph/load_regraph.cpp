#include "base/utf8.h"
#include "regraph/regraph_yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>
#include <set>
#include <sstream>
#include <utility>

namespace regraph {

namespace {

// yaml-cpp reports by exceptions; this one carries ours to the room's border, parse_regraph.
struct Malformed {
  int line = 0;
  std::string message;
};

[[noreturn]] void reject(const YAML::Node& where, std::string message) {
  throw Malformed{where.Mark().line + 1, std::move(message)};
}

void require_map(const YAML::Node& node, std::string_view what) {
  if (!node.IsMap()) reject(node, std::string(what) + " must be a mapping");
}

void require_keys(const YAML::Node& map, std::string_view what,
                  std::initializer_list<std::string_view> known) {
  require_map(map, what);
  std::set<std::string> seen;
  for (const auto& entry : map) {
    if (!entry.first.IsScalar()) reject(map, std::string(what) + ": a key must be a plain word");
    const std::string key = entry.first.Scalar();
    if (std::ranges::find(known, key) == known.end()) {
      reject(entry.first, std::string(what) + ": unknown key '" + key + "'");
    }
    if (!seen.insert(key).second) {
      reject(entry.first, std::string(what) + ": key '" + key + "' is given twice");
    }
  }
}

YAML::Node field(const YAML::Node& map, const char* key, std::string_view what) {
  const YAML::Node value = map[key];
  if (!value.IsDefined()) reject(map, std::string(what) + ": missing field '" + key + "'");
  return value;
}

std::string text_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) reject(node, std::string(what) + " must be text");
  return node.Scalar();
}

template <typename Number>
Number number_of(const YAML::Node& node, std::string_view what) {
  Number value{};
  if (!node.IsScalar() || !YAML::convert<Number>::decode(node, value)) {
    reject(node, std::string(what) + " must be a number");
  }
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(value)) reject(node, std::string(what) + " must be finite");
  }
  return value;
}

std::vector<std::string> texts_of(const YAML::Node& node, std::string_view what) {
  if (!node.IsSequence()) reject(node, std::string(what) + " must be a list");
  std::vector<std::string> result;
  for (const YAML::Node& entry : node)
    result.push_back(text_of(entry, what));
  return result;
}

void read_flag(const YAML::Node& map, const char* key, const std::string& what, bool& flag) {
  const YAML::Node value = map[key];
  if (!value.IsDefined()) return;
  if (!value.IsScalar() || !YAML::convert<bool>::decode(value, flag))
    reject(value, what + ": " + key + " must be true or false");
}

EvidenceCondition read_condition(const YAML::Node& node, const std::string& what) {
  require_keys(node, what, {"fact", "op", "value", "weight", "required"});
  EvidenceCondition condition;
  const YAML::Node fact = field(node, "fact", what);
  condition.fact = text_of(fact, what + ": fact");
  if (!is_known_fact(condition.fact))
    reject(fact, what + ": unknown fact '" + condition.fact + "'");
  const YAML::Node comparison = field(node, "op", what);
  const std::string symbol = text_of(comparison, what + ": op");
  bool known = false;
  for (const Comparison candidate :
       {Comparison::less, Comparison::less_equal, Comparison::greater, Comparison::greater_equal}) {
    if (symbol != name(candidate)) continue;
    condition.comparison = candidate;
    known = true;
  }
  if (!known) {
    reject(comparison, what + ": unknown operator '" + symbol + "' (use <, <=, > or >=)");
  }
  condition.value = number_of<double>(field(node, "value", what), what + ": value");
  read_flag(node, "required", what, condition.required);
  if (const YAML::Node weight = node["weight"]) {
    condition.weight = number_of<double>(weight, what + ": weight");
    // What must hold anyway may argue for nothing.
    const bool positive = condition.weight > 0.0 || (condition.required && condition.weight == 0.0);
    if (!positive) reject(weight, what + ": weight must be positive");
  }
  return condition;
}

std::map<std::string, std::vector<std::string>> read_parameters(const YAML::Node& node,
                                                                const std::string& what) {
  require_map(node, what + ": parameters");
  std::map<std::string, std::vector<std::string>> result;
  for (const auto& entry : node) {
    const std::string key = text_of(entry.first, what + ": a parameter's name");
    const std::string parameter = fmt::format("{}: parameter '{}'", what, key);
    std::vector<std::string> values = texts_of(entry.second, parameter);
    if (values.empty()) reject(entry.second, parameter + " allows no value");
    if (!result.emplace(key, std::move(values)).second)
      reject(entry.first, parameter + " is given twice");
  }
  return result;
}

GainStatistics read_statistics(const YAML::Node& node, const std::string& what) {
  require_keys(
      node, what,
      {"families", "kernels", "observations", "sum_positive", "tries", "verified", "sum_log_gain"});
  const auto count = [&](const char* key) {
    return number_of<std::int64_t>(field(node, key, what), what + ": " + key);
  };
  const auto sum = [&](const char* key) {
    return number_of<double>(field(node, key, what), what + ": " + key);
  };
  GainStatistics statistics;
  statistics.families = count("families");
  statistics.kernels = count("kernels");
  statistics.observations = count("observations");
  statistics.sum_positive = sum("sum_positive");
  statistics.tries = count("tries");
  statistics.verified = count("verified");
  statistics.sum_log_gain = sum("sum_log_gain");
  if (const std::string wrong = statistics.nonsense(); !wrong.empty())
    reject(node, what + ": " + wrong + "; train the graph again, it is not for editing by hand");
  return statistics;
}

LearnedGains read_learned(const YAML::Node& node, const std::string& what) {
  require_keys(node, what, {name(TimeMethod::predicted), name(TimeMethod::measured)});
  LearnedGains learned;
  for (const TimeMethod method : {TimeMethod::predicted, TimeMethod::measured}) {
    const YAML::Node devices = node[name(method)];
    if (!devices.IsDefined()) continue;
    require_map(devices, what);
    for (const auto& entry : devices) {
      const std::string device = text_of(entry.first, what + ": a device's name");
      if (!learned.by(method).emplace(device, read_statistics(entry.second, what)).second)
        reject(entry.first, what + ": a device is given twice");
    }
  }
  return learned;
}

Step read_step(const YAML::Node& node) {
  require_keys(node, "step",
               {"id", "name", "aliases", "what", "legality", "parameters", "evidence",
                "instruction", "rewriter", "needs", "candidate", "learned"});
  Step step;
  step.id = text_of(field(node, "id", "step"), "step: id");
  const std::string what = "step '" + step.id + "'";
  step.name = text_of(field(node, "name", what), what + ": name");
  step.what = text_of(field(node, "what", what), what + ": what");
  step.legality = text_of(field(node, "legality", what), what + ": legality");
  step.instruction = text_of(field(node, "instruction", what), what + ": instruction");
  if (const YAML::Node aliases = node["aliases"])
    step.aliases = texts_of(aliases, what + ": aliases");
  if (const YAML::Node map = node["parameters"]) step.parameters = read_parameters(map, what);
  if (const YAML::Node evidence = node["evidence"]) {
    if (!evidence.IsSequence()) reject(evidence, what + ": evidence must be a list");
    for (const YAML::Node& entry : evidence) {
      step.evidence.push_back(read_condition(entry, what + ": evidence"));
    }
  }
  if (const YAML::Node needs = node["needs"]) {
    step.needs = texts_of(needs, what + ": needs");
    for (const std::string& need : step.needs) {
      if (std::ranges::find(kGrants, need) == std::end(kGrants))
        reject(needs,
               fmt::format("{}: '{}' is nothing that a manifest's assume grants", what, need));
    }
  }
  read_flag(node, "rewriter", what, step.rewriter);
  read_flag(node, "candidate", what, step.candidate);
  if (const YAML::Node learned = node["learned"])
    step.learned = read_learned(learned, what + ": learned");
  return step;
}

TransitionExample read_example(const YAML::Node& node, const std::string& what) {
  require_keys(
      node, what,
      {"name", "kernel", "family", "run", "device", "method", "log_gain", "before", "after"});
  const auto text = [&](const char* key) {
    return text_of(field(node, key, what), what + ": " + key);
  };
  TransitionExample example;
  example.name = text("name");
  example.kernel = text("kernel");
  example.family = text("family");
  example.run = text("run");
  example.device = text("device");
  const std::string method = text("method");
  if (method != name(TimeMethod::predicted) && method != name(TimeMethod::measured))
    reject(node["method"], what + ": unknown way of timing '" + method + "'");
  if (method == name(TimeMethod::measured)) example.method = TimeMethod::measured;
  example.log_gain = number_of<double>(field(node, "log_gain", what), what + ": log_gain");
  example.before = text("before");
  example.after = text("after");
  return example;
}

void read_transition(const YAML::Node& node, StepGraph& graph) {
  require_keys(node, "transition", {"from", "to", "gain", "weight", "learned", "examples"});
  const std::string from = text_of(field(node, "from", "transition"), "transition: from");
  const std::string to = text_of(field(node, "to", "transition"), "transition: to");
  const std::string what = "transition " + from + " -> " + to;
  Transition transition;
  transition.expected_speedup = number_of<double>(field(node, "gain", what), what + ": gain");
  if (const YAML::Node weight = node["weight"]) {
    transition.prior_weight = number_of<double>(weight, what + ": weight");
  }
  if (const YAML::Node learned = node["learned"])
    transition.learned = read_learned(learned, what + ": learned");
  if (Status added = graph.add_transition(from, to, std::move(transition)); !added) {
    reject(node, added.error().message);
  }
  const YAML::Node list = node["examples"];
  if (!list.IsDefined()) return;
  if (!list.IsSequence()) reject(list, what + ": examples must be a list");
  if (list.size() > kMostExamples) reject(list, what + ": too many examples");
  std::vector<TransitionExample> examples;
  for (const YAML::Node& entry : list)
    examples.push_back(read_example(entry, what + ": example"));
  if (Status set = graph.set_examples(from, to, std::move(examples)); !set)
    reject(list, set.error().message);
}

StepGraph read_graph(const YAML::Node& root) {
  require_keys(root, "graph", {"format", "learned_from", "steps", "transitions"});
  const YAML::Node format = field(root, "format", "graph");
  if (text_of(format, "format") != "regraph/1") {
    reject(format, "unknown format, this version reads 'regraph/1'");
  }
  StepGraph graph;
  if (const YAML::Node table = root["learned_from"])
    graph.set_learned_from(text_of(table, "learned_from"));
  const YAML::Node steps = field(root, "steps", "graph");
  if (!steps.IsSequence()) reject(steps, "steps must be a list");
  for (const YAML::Node& node : steps) {
    if (Status added = graph.add_step(read_step(node)); !added) reject(node, added.error().message);
  }
  if (const YAML::Node transitions = root["transitions"]) {
    if (!transitions.IsSequence()) reject(transitions, "transitions must be a list");
    for (const YAML::Node& node : transitions)
      read_transition(node, graph);
  }
  return graph;
}

}  // namespace

Result<StepGraph> parse_regraph(std::string_view text, std::string_view name) {
  const auto error = [&](int line, const std::string& message) {
    return fail(ErrorCode::parse,
                std::string(name) + ":" + std::to_string(std::max(line, 1)) + ": " + message);
  };
  // yaml-cpp takes any bytes, but would write others.
  if (const auto wrong = find_invalid_utf8(text)) {
    const auto line = 1 + std::ranges::count(text.substr(0, *wrong), '\n');
    return error(static_cast<int>(line), "this is not UTF-8 text");
  }
  try {
    return read_graph(YAML::Load(std::string(text)));
  } catch (const Malformed& malformed) {
    return error(malformed.line, malformed.message);
  } catch (const YAML::Exception& exception) {
    return error(exception.mark.line + 1, exception.msg);
  } catch (const std::exception& exception) {
    return error(1, exception.what());
  }
}

Result<StepGraph> load_regraph(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  if (!file || !(text << file.rdbuf())) {
    return fail(ErrorCode::not_found, path.string() + ": the ReGraph cannot be read");
  }
  return parse_regraph(text.view(), path.string());
}

}  // namespace regraph
