#include "session/calibration_samples.h"

#include "eval/compile/compiled_plan.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/predict_time.h"
#include "kernel/manifest.h"
#include "search/journal_rows.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace regraph {
namespace {

using Json = nlohmann::json;

constexpr const char* kSchema = "regraph-samples/1";

// Nothing when the key is absent or no text.
std::optional<std::string> text_at(const Json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

std::optional<MeasuredVariant> read_variant(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  MeasuredVariant variant;
  const auto steps = text_at(json, "steps");
  const auto method = text_at(json, "method");
  const auto median = json.find("median");
  if (!steps || !method || median == json.end() || !median->is_number()) return std::nullopt;
  variant.steps = *steps;
  variant.measured = *method == "measured";
  variant.seconds = median->get<double>();
  if (!(variant.seconds > 0.0) || !std::isfinite(variant.seconds)) return std::nullopt;
  const auto source = text_at(json, "source");
  const auto plan = json.find("plan");
  if (source.has_value() != (plan != json.end())) return std::nullopt;
  if (!source) return variant;
  variant.source = *source;
  variant.plan = plan->dump();
  if (!journal::read_plan(variant.plan)) return std::nullopt;
  return variant;
}

Result<MeasuredRun> read_run(std::string_view line, const std::string& place) {
  const auto wrong = [&](const std::string& what) {
    return fail(ErrorCode::parse, place + ": " + what);
  };
  constexpr int kDeepest = 8;
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; };
  const Json json = Json::parse(line, shallow, false);
  if (!json.is_object()) return wrong("no JSON object");
  if (text_at(json, "schema") != kSchema)
    return wrong(fmt::format("its 'schema' is not '{}'", kSchema));
  MeasuredRun run;
  run.place = place;
  const std::pair<const char*, std::string*> texts[] = {
      {"name", &run.name},        {"family", &run.family}, {"device", &run.device},
      {"kernel", &run.kernel},    {"path", &run.path},     {"source", &run.source},
      {"manifest", &run.manifest}};
  for (const auto& [key, to] : texts) {
    auto value = text_at(json, key);
    if (!value || value->empty()) return wrong(fmt::format("'{}' is missing", key));
    *to = *std::move(value);
  }
  const auto variants = json.find("variants");
  if (variants == json.end() || !variants->is_array()) return wrong("'variants' is no list");
  for (const Json& one : *variants) {
    auto variant = read_variant(one);
    if (!variant) return wrong(fmt::format("variant {} is damaged", run.variants.size()));
    run.variants.push_back(*std::move(variant));
  }
  return run;
}

// What all variants of a run compute.
Result<Problem> problem_of(const MeasuredRun& run, const DeviceSpec& device, Compiler& compiler,
                           const source::FrontEndConfiguration& front_end,
                           const Cancellation& cancellation) {
  CompileRequest request;
  request.source = run.source;
  request.architecture = device.architecture;
  request.want_cubin = false;
  if (auto accepted = compiler.compile(request, cancellation); !accepted) return accepted.error();
  auto manifest = parse_manifest(run.manifest, run.place);
  if (!manifest) return manifest.error();
  std::vector<std::string> kernels = {run.kernel};
  for (const ManifestLaunch& entry : manifest->launches) {
    if (std::ranges::find(kernels, entry.launch.kernel) == kernels.end())
      kernels.push_back(entry.launch.kernel);
  }
  std::vector<KernelSignature> signatures;
  for (const std::string& kernel : kernels) {
    auto parsed = source::parse_kernel(run.source, run.path, kernel, front_end);
    if (!parsed) return parsed.error();
    signatures.push_back(std::move(parsed->signature));
  }
  return make_problem_of_launches(*manifest, signatures, run.path, run.source);
}

// A sample, or why there is none.
Result<calibration::Sample, std::string> gather(const MeasuredRun& run,
                                                const MeasuredVariant& variant,
                                                const Problem& problem, const DeviceSpec& device,
                                                Compiler& compiler, WorkCounting counting,
                                                const Cancellation& cancellation) {
  LaunchPlan plan = problem.launch;
  if (!variant.plan.empty()) {
    auto own = journal::read_plan(variant.plan);
    if (!own) return std::string("its launch plan is damaged");
    plan = *std::move(own);
  }
  const std::string& source = variant.source.empty() ? run.source : variant.source;
  auto compiled = compile_plan(compiler, source, plan, device.architecture, cancellation);
  if (!compiled) return compiled.error().message;
  auto gathered = GatheredPlan::gather(device, problem, *compiled, plan, cancellation, counting);
  if (!gathered) return std::move(gathered).error().message;
  const auto shared = std::make_shared<const GatheredPlan>(std::move(*gathered));
  calibration::Sample sample;
  sample.name = run.name + ": " + variant.steps;
  sample.for_fitting_only = run.family == kMicroFamily;
  sample.family = sample.for_fitting_only ? run.family + "/" + run.kernel : run.family;
  sample.measured_seconds = variant.seconds;
  sample.predict = [shared](const DeviceSpec& on) { return shared->seconds(on); };
  return sample;
}

}  // namespace

Result<std::vector<MeasuredRun>> parse_measured_runs(std::string_view text,
                                                     const std::string& path) {
  std::vector<MeasuredRun> runs;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty()) continue;
    auto run = read_run(line, fmt::format("{}:{}", path, number));
    if (!run) return run.error();
    runs.push_back(*std::move(run));
  }
  return runs;
}

Result<GatheredSamples> gather_samples(const std::vector<MeasuredRun>& runs,
                                       const DeviceSpec& device, Compiler& compiler,
                                       const source::FrontEndConfiguration& front_end,
                                       const Cancellation& cancellation) {
  GatheredSamples result;
  struct Work {
    const MeasuredRun* run;
    const MeasuredVariant* variant;
    std::size_t problem;
  };
  std::vector<Work> work;
  std::vector<Problem> problems;
  // Clang is not asked by several threads at once.
  for (const MeasuredRun& run : runs) {
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
    auto problem = problem_of(run, device, compiler, front_end, cancellation);
    if (!problem) {
      result.left_out.push_back(
          fmt::format("{} ({}): {}", run.place, run.name, problem.error().message));
      continue;
    }
    for (const MeasuredVariant& variant : run.variants)
      work.push_back({&run, &variant, problems.size()});
    problems.push_back(*std::move(problem));
  }
  const WorkCounting counting = choose_counting(compiler, device.architecture);
  std::vector<Result<calibration::Sample, std::string>> done(work.size(), std::string());
  tbb::parallel_for(std::size_t{0}, work.size(), [&](std::size_t index) {
    if (cancellation.requested()) return;
    const Work& one = work[index];
    done[index] = gather(*one.run, *one.variant, problems[one.problem], device, compiler, counting,
                         cancellation);
  });
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "interrupted");
  for (std::size_t index = 0; index < work.size(); ++index) {
    if (done[index]) {
      result.samples.push_back(std::move(*done[index]));
    } else {
      result.left_out.push_back(fmt::format("{} ({}: {}): {}", work[index].run->place,
                                            work[index].run->name, work[index].variant->steps,
                                            done[index].error()));
    }
  }
  return result;
}

}  // namespace regraph
