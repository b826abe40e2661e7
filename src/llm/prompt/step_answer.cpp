#include "llm/prompt/step_answer.h"

#include "llm/prompt/json_answer.h"
#include "llm/prompt/prompt_text.h"
#include "regraph/combined_steps.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace regraph::llm {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kLongestName = 80;
constexpr std::size_t kLongestId = 48;
constexpr std::size_t kLongestValue = 40;
constexpr std::size_t kLongestReason = 600;
constexpr std::size_t kMostParameters = 8;
// Among the values that a step allows: any will do.
constexpr std::string_view kAnyValue = "any";

// lower_case_with_underscores, beginning with a letter; empty when the name has none.
std::string id_from(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool upper = c >= 'A' && c <= 'Z';
    const bool letter = upper || (c >= 'a' && c <= 'z');
    const bool digit = c >= '0' && c <= '9';
    if (letter || (digit && !id.empty())) {
      id += upper ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!id.empty() && id.back() != '_') {
      id += '_';
    }
    if (id.size() == kLongestId) break;
  }
  while (!id.empty() && id.back() == '_')
    id.pop_back();
  return id;
}

bool means_initial_state(std::string_view name) {
  const std::string normalised = normalised_name(name);
  return normalised == "init" || normalised == "initstate" || normalised == "initialstate";
}

StepParameters parameters_of(const Json& object, const Step* step) {
  StepParameters parameters;
  if (!object.is_object()) return parameters;
  for (const auto& [key, value] : object.items()) {
    if (parameters.size() == kMostParameters) break;
    if (!value.is_string()) continue;
    const std::string text = one_line(value.get<std::string>(), kLongestValue);
    if (step == nullptr) {
      if (std::string name = id_from(key); !name.empty()) parameters.emplace(std::move(name), text);
      continue;
    }
    const auto allowed = step->parameters.find(key);
    if (allowed == step->parameters.end()) continue;
    const auto allows = [&](std::string_view value) {
      return std::ranges::find(allowed->second, value) != allowed->second.end();
    };
    if (allows(text) || allows(kAnyValue)) {
      parameters.emplace(key, text);
    }
  }
  return parameters;
}

std::string text_of(const Json& entry, const char* key) {
  if (!entry.is_object()) return {};
  const auto found = entry.find(key);
  return found != entry.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Models write 4 for "4"; both are meant as text.
void make_text(Json& value) {
  if (value.is_number() || value.is_boolean()) value = value.dump();
}

// Calls visit(step) for each step of an answer that is one.
template <typename Visit>
void for_each_step(Json& answer, const Visit& visit) {
  if (!answer.is_object() || !answer.contains("steps") || !answer["steps"].is_array()) return;
  for (Json& step : answer["steps"]) {
    if (step.is_object()) visit(step);
  }
}

void make_parameters_text(Json& answer) {
  for_each_step(answer, [](Json& step) {
    const auto parameters = step.find("parameters");
    if (parameters == step.end()) return;
    for (Json& parameter : *parameters) {
      make_text(parameter.is_object() && parameter.contains("value") ? parameter["value"]
                                                                     : parameter);
    }
  });
}

// Servers that enforce a schema need a fixed set of names, so parameters are a list there; models
// that are not held to it like objects better, and leave out what is empty. All become lists.
void make_uniform(Json& answer) {
  for_each_step(answer, [](Json& step) {
    if (!step.contains("plan")) step["plan"] = Json::array();
    if (!step.contains("why")) step["why"] = "";
    Json& parameters = step["parameters"];
    if (!parameters.is_object() && !parameters.is_null()) return;
    Json list = Json::array();
    for (const auto& [name, value] : parameters.items())
      list.push_back({{"name", name}, {"value", value}});
    parameters = std::move(list);
  });
}

// {"name": value, ...} of such an object or a list; what is neither is nothing.
Json object_of(const Json& list) {
  Json object = Json::object();
  if (list.is_object()) return list;
  if (!list.is_array()) return object;
  for (const Json& entry : list) {
    if (!entry.is_object() || !entry.contains("name") || !entry["name"].is_string()) continue;
    if (entry.contains("value")) object[entry["name"].get<std::string>()] = entry["value"];
  }
  return object;
}

// Leaves the first of equal steps; a leap in a leap is none.
std::vector<NamedStep> plan_of(const Json& list, const StepGraph& graph) {
  std::vector<NamedStep> plan;
  if (!list.is_array()) return plan;
  for (const Json& entry : list) {
    if (!entry.is_string() || plan.size() == kLongestPlan) continue;
    NamedStep step = relabelled(entry.get<std::string>(), graph);
    const bool known = std::ranges::find(plan, step.id, &NamedStep::id) != plan.end();
    const bool is_step = !step.id.empty() && step.id != kLeap && step.id != kCombine;
    if (is_step && !known) plan.push_back(std::move(step));
  }
  return plan;
}

}  // namespace

NamedStep relabelled(std::string_view name, const StepGraph& graph) {
  NamedStep result;
  result.name = one_line(name, kLongestName);
  result.id = id_from(result.name);
  // The id too may be known: it leaves out letters beyond ASCII.
  for (const std::string_view text : {name, std::string_view(result.id)}) {
    if (const Step* step = graph.find_by_any_name(text)) {
      result.id = step->id;
      return result;
    }
  }
  if (means_initial_state(name) || means_initial_state(result.id)) result.id.clear();
  result.is_new = !result.id.empty();
  return result;
}

Result<std::vector<NamedStep>> parse_steps(const ChatChoice& choice, const JsonSchema& schema,
                                           const StepGraph& graph, std::size_t limit) {
  Result<Json> answer = read_json_answer(choice);
  if (!answer) return answer.error();
  if (answer->is_array()) {
    Json list = std::move(*answer);
    *answer = Json::object();
    (*answer)["steps"] = std::move(list);
  }
  make_parameters_text(*answer);
  if (!schema.check(*answer)) {
    make_uniform(*answer);
    if (Status status = schema.check(*answer); !status) return status.error();
  }
  // The schema is a file's: what it leaves open is looked at again.
  const Json list = answer->is_object() ? answer->value("steps", Json::array()) : Json::array();
  std::vector<NamedStep> steps;
  for (const Json& entry : list) {
    NamedStep step = relabelled(text_of(entry, "step"), graph);
    if (step.id.empty()) continue;
    std::vector<NamedStep> plan = plan_of(entry.value("plan", Json()), graph);
    if (step.id == kLeap && plan.size() < 2) {
      if (plan.empty()) continue;
      step = std::move(plan.front());
    } else if (step.id == kLeap) {
      step.plan = std::move(plan);
    }
    if (const auto parameters = entry.find("parameters"); parameters != entry.end())
      step.parameters = parameters_of(object_of(*parameters), graph.find(step.id));
    if (step.id == kLeap) step.parameters.clear();
    step.why = one_line(text_of(entry, "why"), kLongestReason);
    const bool known = std::ranges::any_of(steps, [&](const NamedStep& other) {
      return other.id == step.id && other.parameters == step.parameters && other.plan == step.plan;
    });
    if (!known && steps.size() < limit) steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace regraph::llm
