#include "kernel/caveats.h"
#include "report/likely_answer.h"
#include "report/run_report.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace regraph {
namespace {

using Json = nlohmann::ordered_json;

Json time_json(const TimeEstimate& time) {
  return {{"seconds", time.median_seconds},
          {"interval", {time.low_seconds, time.high_seconds}},
          {"samples", time.samples}};
}

Json step_json(const StepProposal& step) {
  return {{"step", step.step}, {"parameters", step.parameters}};
}

// A step that somebody made up in this run.
Json new_step_json(const NewStepRecord& step) {
  return {{"step", step.id},
          {"title", step.title},
          {"reason", step.reason},
          {"proposed", step.proposed},
          {"tries", step.tries},
          {"verified", step.verified},
          {"best_speedup", step.verified > 0 ? Json(std::exp(step.best_log_gain)) : Json()}};
}

// What the device can do at most, as predictions take it.
Json ceilings_json(const DeviceSpec& device) {
  return {{"bytes_per_second", device.dram_bytes_per_second},
          {"flops_per_second", device.peak_fp32_flops()}};
}

// The manifest's amounts at the last bench size; null where it has none.
Json work_json(const Problem& problem) {
  const auto amount = [&](const std::optional<IntegerExpression>& expression) {
    if (!expression || problem.bench.empty()) return Json();
    const Result<std::int64_t> value = expression->evaluate(problem.bench.back());
    return value.ok() ? Json(*value) : Json();
  };
  return {{"bytes", amount(problem.bytes)}, {"flops", amount(problem.flops)}};
}

Json times_json(const MeasuredSpeedup::Times& times) {
  return {{"original_seconds", times.original_seconds},
          {"best_seconds", times.best_seconds},
          {"samples", times.samples},
          {"speedup", times.speedup.ratio},
          {"interval", {times.speedup.low, times.speedup.high}}};
}

Json speedup_json(const MeasuredSpeedup& measured) {
  Json json;
  json["processes"] = measured.processes;
  json["cold"] = {{"speedup", measured.cold.ratio},
                  {"interval", {measured.cold.low, measured.cold.high}}};
  json["hot"] = {{"speedup", measured.hot.ratio},
                 {"interval", {measured.hot.low, measured.hot.high}}};
  json["benches"] = Json::array();
  for (const MeasuredSpeedup::Bench& bench : measured.benches) {
    json["benches"].push_back({{"sizes", bench.symbols},
                               {"cold", times_json(bench.cold)},
                               {"hot", times_json(bench.hot)}});
  }
  return json;
}

Json sanitizer_json(const SanitizerReport& report) {
  return {{"tools", report.tools}, {"findings", report.findings}, {"notes", report.notes}};
}

Json program_json(const ProgramRunReport& program) {
  return {{"ran", program.ran},
          {"same", program.same},
          {"trouble", program.trouble},
          {"launches_replaced", program.replaced},
          {"launches_kept", program.kept},
          {"seconds", program.seconds}};
}

// The numbers at the last bench size are null where they cannot be told.
Json launch_json(const Problem& problem, const LaunchPlan& plan) {
  const Launch* launch = plan.launch_of(problem.signature.name);
  if (launch == nullptr) return {};
  Json json = {{"block", {launch->block.x, launch->block.y, launch->block.z}},
               {"grid", {launch->grid[0].text(), launch->grid[1].text(), launch->grid[2].text()}},
               {"dynamic_shared_bytes", launch->dynamic_shared_bytes.text()},
               {"launches", plan.launches.size()},
               {"bench", nullptr}};
  if (problem.bench.empty()) return json;
  if (const auto numbers = concretise(*launch, problem.bench.back())) {
    json["bench"] = {{"grid", {numbers->grid.x, numbers->grid.y, numbers->grid.z}},
                     {"dynamic_shared_bytes", numbers->dynamic_shared_bytes}};
  }
  return json;
}

Json hand_back_json(const RunReport& report) {
  const HandBackReport& back = *report.hand_back;
  const bool there = report.outcome.improved() && !back.patch.empty();
  Json json = {{"path", there ? Json(report.directory + "/best.patch") : Json()},
               {"folder", back.folder},
               {"files", back.files},
               {"why_not", back.why_not},
               {"launches", Json::array()},
               {"notes", back.notes}};
  for (const HandedLaunch& launch : back.launches) {
    json["launches"].push_back({{"file", launch.file},
                                {"line", launch.line},
                                {"before", launch.before},
                                {"after", launch.after}});
  }
  return json;
}

Json check_json(const CheckReport& check) {
  const auto code = [](const std::optional<int>& value) { return value ? Json(*value) : Json(); };
  return {{"command", check.command},
          {"ran", check.ran},
          {"same", check.same},
          {"trouble", check.trouble},
          {"baseline_exit_code", code(check.baseline_exit_code)},
          {"patched_exit_code", code(check.patched_exit_code)},
          {"baseline_seconds", check.baseline_seconds},
          {"patched_seconds", check.patched_seconds},
          {"on_gpu", check.on_gpu},
          {"launches", check.launches ? Json(*check.launches) : Json()},
          {"notes", check.notes}};
}

Json measurement_json(const Measurement& measurement) {
  return {{"gpu", measurement.gpu},
          {"devices", measurement.devices},
          {"driver_version", measurement.driver_version},
          {"timed", measurement.timed},
          {"pruned", measurement.pruned},
          {"faults", measurement.faults},
          {"workers", measurement.workers},
          {"noise", measurement.noise},
          {"clock_hertz", measurement.clock_hertz},
          {"compile_and_verify_seconds", measurement.compile_and_verify_seconds},
          {"model_seconds", measurement.model_seconds},
          {"probation_seconds", measurement.probation_seconds},
          {"timing_seconds", measurement.timing_seconds},
          {"furnishing_seconds", measurement.furnishing_seconds},
          {"profiling_seconds", measurement.profiling_seconds},
          {"answer_seconds", measurement.answer_seconds},
          {"waiting_seconds", measurement.waiting_seconds},
          {"profiled", measurement.profiled},
          {"exact_looks", measurement.exact_looks},
          {"double_looks", measurement.double_looks},
          {"no_counters", measurement.no_counters},
          {"final", measurement.speedup ? speedup_json(*measurement.speedup) : Json()},
          {"disturbances", measurement.disturbances},
          {"sanitizer", measurement.sanitizer ? sanitizer_json(*measurement.sanitizer) : Json()}};
}

Json baseline_json(const Evaluation& evaluation) {
  Json json = time_json(evaluation.time);
  json["bottleneck"] = evaluation.bottleneck;
  json["caveats"] = caveats_of(evaluation.facts);
  json["facts"] = evaluation.facts;
  return json;
}

// What may be faster and is not claimed to be; null where there is none.
Json likely_json(const RunReport& report) {
  const auto likely = likely_answer(report);
  if (!likely) return nullptr;
  Json json = time_json(likely->state->evaluation.time);
  json["path"] = report.directory + "/" + report.kernel_file("likely");
  json["manifest"] = report.directory + "/likely.regraph.yaml";
  json["speedup"] = likely->speedup;
  json["speedup_interval"] = {likely->low, likely->high};
  json["steps"] = Json::array();
  for (const StepProposal& step : likely->steps)
    json["steps"].push_back(step_json(step));
  json["assumptions"] = likely->state->candidate->assumptions;
  return json;
}

Json best_json(const RunReport& report) {
  const Evaluation& evaluation = report.outcome.best_evaluation;
  Json json = time_json(evaluation.time);
  json["path"] = report.directory + "/" + report.kernel_file("best");
  json["manifest"] = report.directory + "/best.regraph.yaml";
  json["steps"] = Json::array();
  for (const PathStep& step : report.outcome.path) {
    Json entry = step_json(step.step);
    entry["gain"] = std::exp(step.log_gain);
    json["steps"].push_back(std::move(entry));
  }
  json["assumptions"] = report.assumptions();
  json["launch"] = {{"original", launch_json(report.problem, report.problem.launch)},
                    {"best", launch_json(report.problem, report.outcome.best.plan)}};
  json["bottleneck"] = evaluation.bottleneck;
  json["caveats"] = caveats_of(evaluation.facts);
  json["roofline_seconds"] = evaluation.roofline_seconds;
  const ResourceUsage& resources = evaluation.resources;
  json["resources"] = {{"registers_per_thread", resources.registers_per_thread},
                       {"spill_store_bytes", resources.spill_store_bytes},
                       {"spill_load_bytes", resources.spill_load_bytes},
                       {"static_shared_bytes", resources.static_shared_bytes},
                       {"stack_bytes", resources.stack_bytes}};
  json["facts"] = evaluation.facts;
  return json;
}

Json verdicts_json(const SearchOutcome& outcome) {
  Json verdicts = Json::object();
  for (int index = 0; index < kVerdictCount; ++index) {
    const int count = outcome.verdict_counts[static_cast<std::size_t>(index)];
    if (count > 0) verdicts[name(static_cast<Verdict>(index))] = count;
  }
  return verdicts;
}

Json workers_json(const SearchOutcome& outcome, int jobs) {
  const WorkAhead& ahead = outcome.work_ahead;
  return {{"jobs", jobs},
          {"busy", outcome.busy_workers()},
          {"busy_seconds", outcome.busy_seconds},
          {"ahead",
           {{"evaluations", ahead.evaluations},
            {"used", ahead.evaluations_used},
            {"in_vain", ahead.in_vain()},
            {"used_seconds", ahead.used_seconds},
            {"in_vain_seconds", ahead.vain_seconds}}}};
}

}  // namespace

std::string result_json(const RunReport& report) {
  const SearchOutcome& outcome = report.outcome;
  Json json;
  json["schema"] = "regraph-result/1";
  json["status"] = report.outcome.improved() ? "improved" : "no_improvement";
  json["kernel"] = report.problem.signature.name;
  json["source"] = report.problem.source_path;
  json["device"] = std::string(report.device.name);
  json["architecture"] = std::string(report.device.architecture);
  json["evaluator"] = report.evaluator;
  json["method"] = name(outcome.baseline_evaluation.time.method);
  json["verified"] = report.outcome.verified();
  json["verification"] = report.verification;

  json["work"] = work_json(report.problem);
  json["ceilings"] = ceilings_json(report.device);
  if (report.program) json["program"] = program_json(*report.program);
  if (report.hand_back) json["patch"] = hand_back_json(report);
  if (report.check) json["check"] = check_json(*report.check);
  if (report.measurement) json["measurement"] = measurement_json(*report.measurement);
  if (report.model_use) json["language_model"] = model_use_json(*report.model_use);
  json["baseline"] = baseline_json(outcome.baseline_evaluation);
  json["best"] = best_json(report);
  json["speedup"] = report.speedup();
  json["speedup_interval"] = {report.speedup_low(), report.speedup_high()};
  json["likely"] = likely_json(report);
  json["search"] = report.config.searcher;
  if (!report.config.policy.empty()) json["policy"] = report.config.policy;
  json["learns"] = report.config.learn;
  json["evaluations"] = outcome.evaluations;
  json["verdicts"] = verdicts_json(outcome);
  json["expansions"] = outcome.expansions;
  json["transpositions"] = outcome.transpositions;
  json["machine_code_merges"] = outcome.machine_code_merges;
  json["stopped"] = name(outcome.stopped);
  json["new_steps"] = Json::array();
  for (const NewStepRecord& step : outcome.new_steps)
    json["new_steps"].push_back(new_step_json(step));
  json["search_seconds"] = outcome.wall_seconds;
  json["workers"] = workers_json(outcome, report.config.jobs);
  json["seed"] = report.config.seed;
  if (!report.rewritable) json["opaque"] = report.opaque_reason;
  json["notes"] = report.problem.notes;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace regraph
