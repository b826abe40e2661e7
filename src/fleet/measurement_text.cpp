#include "fleet/measurement_text.h"

#include "base/field_json.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph::fleet {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSpeedup = "speedup";
constexpr const char* kSanitizer = "sanitizer";
constexpr const char* kBenches = "benches";
constexpr const char* kSymbols = "symbols";

template <typename Target, typename Field>
void for_each_number(Target& measurement, Field& field) {
  field("gpu", measurement.gpu);
  field("driver_version", measurement.driver_version);
  field("timed", measurement.timed);
  field("pruned", measurement.pruned);
  field("faults", measurement.faults);
  field("workers", measurement.workers);
  field("devices", measurement.devices);
  field("noise", measurement.noise);
  field("clock_hertz", measurement.clock_hertz);
  field("original_seconds", measurement.original_seconds);
  field("compile_and_verify_seconds", measurement.compile_and_verify_seconds);
  field("model_seconds", measurement.model_seconds);
  field("probation_seconds", measurement.probation_seconds);
  field("timing_seconds", measurement.timing_seconds);
  field("furnishing_seconds", measurement.furnishing_seconds);
  field("profiling_seconds", measurement.profiling_seconds);
  field("answer_seconds", measurement.answer_seconds);
  field("waiting_seconds", measurement.waiting_seconds);
  field("profiled", measurement.profiled);
  field("exact_looks", measurement.exact_looks);
  field("double_looks", measurement.double_looks);
  field("no_counters", measurement.no_counters);
}

template <typename Target, typename Field>
void for_each_number_of_speedup(Target& speedup, Field& field) {
  field("ratio", speedup.ratio);
  field("low", speedup.low);
  field("high", speedup.high);
}

template <typename Target, typename Field>
void for_each_number_of_times(Target& times, Field& field) {
  field("original_seconds", times.original_seconds);
  field("best_seconds", times.best_seconds);
  field("samples", times.samples);
  for_each_number_of_speedup(times.speedup, field);
}

Json speedup_json(const SpeedupEstimate& speedup) {
  Json json = Json::object();
  FieldWriter writer(json);
  for_each_number_of_speedup(speedup, writer);
  return json;
}

Json times_json(const MeasuredSpeedup::Times& times) {
  Json json = Json::object();
  FieldWriter writer(json);
  for_each_number_of_times(times, writer);
  return json;
}

// Null where there is none of that name.
const Json& part(const Json& json, const char* name) {
  static const Json kNone;
  const auto found = json.is_object() ? json.find(name) : json.end();
  return found == json.end() ? kNone : *found;
}

bool read(const Json& json, SpeedupEstimate& speedup) {
  FieldReader reader(json);
  for_each_number_of_speedup(speedup, reader);
  const bool ordered =
      0.0 < speedup.low && speedup.low <= speedup.ratio && speedup.ratio <= speedup.high;
  return reader.whole() && ordered;
}

bool read(const Json& json, MeasuredSpeedup::Times& times) {
  FieldReader reader(json);
  for_each_number_of_times(times, reader);
  return reader.whole() && times.original_seconds > 0.0 && times.best_seconds > 0.0;
}

bool read(const Json& json, Symbols& symbols) {
  if (!json.is_object()) return false;
  for (const auto& [name, value] : json.items()) {
    if (!value.is_number_integer()) return false;
    symbols[name] = value.get<std::int64_t>();
  }
  return true;
}

bool read(const Json& json, std::vector<std::string>& texts) {
  if (!json.is_array()) return false;
  for (const Json& one : json) {
    if (!one.is_string()) return false;
    texts.push_back(one.get<std::string>());
  }
  return true;
}

Json measured_json(const MeasuredSpeedup& speedup) {
  Json json = Json::object();
  json[kBenches] = Json::array();
  for (const MeasuredSpeedup::Bench& bench : speedup.benches) {
    json[kBenches].push_back({{kSymbols, Json(bench.symbols)},
                              {"cold", times_json(bench.cold)},
                              {"hot", times_json(bench.hot)}});
  }
  json["cold"] = speedup_json(speedup.cold);
  json["hot"] = speedup_json(speedup.hot);
  json["processes"] = speedup.processes;
  return json;
}

bool read(const Json& json, MeasuredSpeedup& speedup) {
  const Json& benches = part(json, kBenches);
  const Json& processes = part(json, "processes");
  if (!benches.is_array() || benches.empty() || !processes.is_number_unsigned()) return false;
  for (const Json& one : benches) {
    MeasuredSpeedup::Bench bench;
    const bool whole = read(part(one, kSymbols), bench.symbols) &&
                       read(part(one, "cold"), bench.cold) && read(part(one, "hot"), bench.hot);
    if (!whole) return false;
    speedup.benches.push_back(std::move(bench));
  }
  speedup.processes = processes.get<int>();
  return read(part(json, "cold"), speedup.cold) && read(part(json, "hot"), speedup.hot);
}

Json sanitizer_json(const SanitizerReport& report) {
  return {{"tools", report.tools}, {"findings", report.findings}, {"notes", report.notes}};
}

bool read(const Json& json, SanitizerReport& report) {
  return read(part(json, "tools"), report.tools) && read(part(json, "findings"), report.findings) &&
         read(part(json, "notes"), report.notes);
}

}  // namespace

Json measurement_json(const Measurement& measurement) {
  Json numbers = Json::object();
  FieldWriter writer(numbers);
  for_each_number(measurement, writer);
  Json json = Json::object();
  json["numbers"] = std::move(numbers);
  json["disturbances"] = measurement.disturbances;
  if (measurement.speedup) json[kSpeedup] = measured_json(*measurement.speedup);
  if (measurement.sanitizer) json[kSanitizer] = sanitizer_json(*measurement.sanitizer);
  return json;
}

std::optional<Measurement> read_measurement(const Json& json) {
  Measurement measurement;
  FieldReader reader(part(json, "numbers"));
  for_each_number(measurement, reader);
  bool whole = reader.whole() && read(part(json, "disturbances"), measurement.disturbances);
  if (json.contains(kSpeedup)) whole = whole && read(json[kSpeedup], measurement.speedup.emplace());
  if (json.contains(kSanitizer))
    whole = whole && read(json[kSanitizer], measurement.sanitizer.emplace());
  if (!whole) return std::nullopt;
  return measurement;
}

Json trial_json(const AnswerTrial& trial) {
  return {{"measurement", measurement_json(trial.measurement)},
          {"objections", trial.objections},
          {"notes", trial.notes}};
}

std::optional<AnswerTrial> read_trial(const Json& json) {
  AnswerTrial trial;
  auto measurement = read_measurement(part(json, "measurement"));
  const bool is_whole = measurement && read(part(json, "objections"), trial.objections) &&
                        read(part(json, "notes"), trial.notes);
  if (!is_whole) return std::nullopt;
  trial.measurement = std::move(*measurement);
  return trial;
}

}  // namespace regraph::fleet
