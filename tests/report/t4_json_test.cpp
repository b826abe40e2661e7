#include "report/t4_json.h"

#include "report/report_test_support.h"

#include <nlohmann/json.hpp>

#include <limits>
#include <regex>

namespace regraph::t4_json_test {
namespace {

using nlohmann::json;

// What the T4 results schema 1.0.0 demands, in JSON Schema's words.
const json& schema() {
  static const json kSchema = json::parse(R"({
    "type": "object",
    "properties": {
      "schema_version": {"type": "string", "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$"},
      "results": {"type": "array", "items": {
        "type": "object",
        "required": ["configuration", "times", "invalidity", "correctness"],
        "properties": {
          "timestamp": {"type": "string"},
          "configuration": {"type": "object"},
          "objectives": {"type": "array"},
          "times": {"type": "object", "properties": {
            "compilation_time": {"type": "number"},
            "runtimes": {"type": "array"},
            "framework": {"type": "number"},
            "search_algorithm": {"type": "number"},
            "validation": {"type": "number"}}},
          "invalidity": {"enum": ["timeout", "compile", "runtime", "correctness", "constraints",
                                  "correct"]},
          "correctness": {"type": "number"},
          "measurements": {"type": "array", "items": {
            "type": "object",
            "properties": {
              "name": {"type": "string"},
              "value": {"type": ["number", "string", "array"]},
              "unit": {"type": "string"}}}}}}}}})");
  return kSchema;
}

bool has_type(const json& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "number") return value.is_number();
  return false;
}

// Checks the keywords that the schema uses. Returns where and why it does not fit, or nothing.
std::string misfit(const json& value, const json& schema, const std::string& place) {
  if (schema.contains("type")) {
    const json& wanted = schema["type"];
    bool fits = false;
    for (const json& type : wanted.is_array() ? wanted : json::array({wanted}))
      fits = fits || has_type(value, type.get<std::string>());
    if (!fits) return place + " is no " + wanted.dump();
  }
  if (schema.contains("enum")) {
    bool listed = false;
    for (const json& one : schema["enum"])
      listed = listed || one == value;
    if (!listed) return place + " may not be " + value.dump();
  }
  if (schema.contains("pattern") &&
      !std::regex_match(value.get<std::string>(),
                        std::regex(schema["pattern"].get<std::string>()))) {
    return place + " does not match";
  }
  for (const json& key : schema.value("required", json::array())) {
    if (!value.contains(key)) return place + " lacks " + key.dump();
  }
  const json properties = schema.value("properties", json::object());
  for (const auto& [key, part] : properties.items()) {
    if (!value.contains(key)) continue;
    if (std::string wrong = misfit(value[key], part, place + "." + key); !wrong.empty()) {
      return wrong;
    }
  }
  if (schema.contains("items")) {
    for (std::size_t at = 0; at < value.size(); ++at) {
      std::string wrong =
          misfit(value[at], schema["items"], place + "[" + std::to_string(at) + "]");
      if (!wrong.empty()) return wrong;
    }
  }
  return "";
}

// The run with one state for each verdict there is.
test::Run run_with_states() {
  test::Run run(true);
  StateRecord root;
  Candidate candidate;
  candidate.plan = run.problem.launch;
  root.candidate = std::make_shared<const Candidate>(std::move(candidate));
  root.evaluation = run.outcome.baseline_evaluation;
  run.outcome.states.push_back(root);
  for (int index = 0; index < kVerdictCount; ++index) {
    StateRecord state = root;
    state.id = static_cast<std::uint32_t>(index + 1);
    state.parent = static_cast<std::uint32_t>(index);
    state.step = {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}, 1};
    state.evaluation.verdict = static_cast<Verdict>(index);
    state.evaluation.message = "why";
    state.evaluation.time = test::predicted_time(0.5e-3);
    state.evaluation.facts = {{"occupancy", 0.25},
                              {"waves", std::numeric_limits<double>::infinity()}};
    run.outcome.states.push_back(state);
  }
  StateRecord under_way = root;
  under_way.id = kVerdictCount + 1;
  under_way.parent = 0;
  under_way.evaluation = {};
  run.outcome.states.push_back(under_way);
  return run;
}

TEST(T4Json, FitsTheSchema) {
  const test::Run run = run_with_states();
  const json results = json::parse(t4_json(run.report()));
  EXPECT_EQ(misfit(results, schema(), "results.t4.json"), "");
  json broken = results;
  broken["results"][1].erase("times");
  EXPECT_EQ(misfit(broken, schema(), "x"), "x.results[1] lacks \"times\"");
  broken = results;
  broken["results"][2]["invalidity"] = "bad";
  EXPECT_EQ(misfit(broken, schema(), "x"), "x.results[2].invalidity may not be \"bad\"");
  broken = results;
  broken["results"][0]["measurements"][0]["value"] = nullptr;
  EXPECT_NE(misfit(broken, schema(), "x"), "");
}

TEST(T4Json, TellsEveryCandidateWithItsTimesAndFacts) {
  const test::Run run = run_with_states();
  const json results = json::parse(t4_json(run.report())).at("results");
  ASSERT_EQ(results.size(), 1U + kVerdictCount);  // the one under way was not judged
  EXPECT_EQ(results[0]["configuration"]["steps"], "");
  EXPECT_TRUE(results[0]["configuration"]["parent"].is_null());
  EXPECT_EQ(results[0]["configuration"]["block_x"], 256);
  EXPECT_EQ(results[2]["configuration"]["steps"],
            "thread_coarsen(axis=x, factor=4); thread_coarsen(axis=x, factor=4)");
  EXPECT_EQ(results[1]["invalidity"], "correct");
  EXPECT_EQ(results[1]["correctness"], 1);
  EXPECT_NEAR(results[1]["times"]["runtimes"][0].get<double>(), 0.5, 1e-12);
  const json& measurements = results[1]["measurements"];
  ASSERT_EQ(measurements.size(), 4U);
  EXPECT_NEAR(measurements[1]["value"].get<double>(), 0.4, 1e-12);
  EXPECT_EQ(measurements[3], (json{{"name", "occupancy"}, {"value", 0.25}, {"unit", "fraction"}}));
  // What was not verified has no time.
  for (std::size_t index = 2; index < results.size(); ++index) {
    EXPECT_EQ(results[index]["correctness"], 0);
    EXPECT_TRUE(results[index]["times"]["runtimes"].empty());
    EXPECT_EQ(results[index]["measurements"].size(), 1U);
  }
}

}  // namespace
}  // namespace regraph::t4_json_test
