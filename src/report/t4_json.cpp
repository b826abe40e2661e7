#include "report/t4_json.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <vector>

namespace regraph {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMillisecondsPerSecond = 1e3;

// T4's words for why a configuration is of no use.
const char* invalidity(Verdict verdict) {
  switch (verdict) {
    case Verdict::correct:
      return "correct";
    case Verdict::compile_error:
      return "compile";
    case Verdict::launch_error:
    case Verdict::unsupported:
      return "constraints";
    case Verdict::timeout:
      return "timeout";
    case Verdict::wrong_result:
    case Verdict::data_race:
    case Verdict::nondeterministic:
    case Verdict::suspicious:
    case Verdict::unverified:
      return "correctness";
    case Verdict::out_of_bounds:
    case Verdict::misaligned_access:
    case Verdict::barrier_divergence:
    case Verdict::crash:
      break;
  }
  return "runtime";
}

Json measurement(std::string_view name, double value, std::string_view unit) {
  return {{"name", std::string(name)}, {"value", value}, {"unit", std::string(unit)}};
}

Json measurements(const Evaluation& evaluation) {
  Json list = Json::array();
  if (evaluation.correct()) {
    const TimeEstimate& time = evaluation.time;
    list.push_back(measurement("time", kMillisecondsPerSecond * time.median_seconds, "ms"));
    list.push_back(measurement("time_low", kMillisecondsPerSecond * time.low_seconds, "ms"));
    list.push_back(measurement("time_high", kMillisecondsPerSecond * time.high_seconds, "ms"));
  }
  for (const FactDescription& description : kFactDescriptions) {
    const auto fact = evaluation.facts.find(description.name);
    // The format has no number for infinity.
    if (fact == evaluation.facts.end() || !std::isfinite(fact->second)) continue;
    list.push_back(measurement(description.name, fact->second, description.unit));
  }
  return list;
}

std::string steps_text(const SearchOutcome& outcome, const StateRecord& state) {
  std::vector<std::string> steps;
  for (const StateRecord* at = &state; at->parent; at = &outcome.states[*at->parent])
    steps.push_back(at->step.text());
  std::string text;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step)
    text += (text.empty() ? "" : "; ") + *step;
  return text;
}

Json result(const RunReport& report, const StateRecord& state) {
  const Evaluation& evaluation = state.evaluation;
  Json configuration = {{"state", state.id},
                        {"parent", state.parent ? Json(*state.parent) : Json()},
                        {"other_parent", state.other_parent ? Json(*state.other_parent) : Json()},
                        {"steps", steps_text(report.outcome, state)}};
  if (state.candidate != nullptr && !state.candidate->plan.launches.empty()) {
    const LaunchPlan& plan = state.candidate->plan;
    const Launch* const optimised = plan.launch_of(report.problem.signature.name);
    const Dim3& block = (optimised == nullptr ? plan.launches.front() : *optimised).block;
    configuration["block_x"] = block.x;
    configuration["block_y"] = block.y;
    configuration["block_z"] = block.z;
  }
  Json runtimes = Json::array();
  if (evaluation.correct()) {
    runtimes.push_back(kMillisecondsPerSecond * evaluation.time.median_seconds);
  }
  return {{"configuration", std::move(configuration)},
          {"objectives", {"time"}},
          {"times", {{"runtimes", std::move(runtimes)}}},
          {"invalidity", invalidity(evaluation.verdict)},
          {"correctness", evaluation.correct() ? 1 : 0},
          {"measurements", measurements(evaluation)}};
}

// States that were still under way when the search was stopped have no evaluation: their verdict is
// the one evaluations start with, and nobody said why.
bool was_judged(const StateRecord& state) {
  const Evaluation& evaluation = state.evaluation;
  return evaluation.verdict != Verdict::unsupported || !evaluation.message.empty();
}

}  // namespace

std::string t4_json(const RunReport& report) {
  Json json;
  json["schema_version"] = "1.0.0";
  json["results"] = Json::array();
  for (const StateRecord& state : report.outcome.states) {
    if (was_judged(state)) json["results"].push_back(result(report, state));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace regraph
