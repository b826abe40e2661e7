#include "eval/model/model_evaluator.h"

#include "base/deadline.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/timing_model.h"
#include "eval/verify/examination.h"
#include "eval/verify/fault_verdict.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/caveats.h"
#include "sass/machine_code.h"
#include "sass/machine_code_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

namespace regraph {
namespace {

Evaluation failed(Verdict verdict, std::string message) {
  Evaluation result;
  result.verdict = verdict;
  result.message = std::move(message);
  return result;
}

std::optional<double> amount(const std::optional<IntegerExpression>& expression,
                             const Symbols& symbols) {
  if (!expression) return std::nullopt;
  auto value = expression->evaluate(symbols);
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value);
}

// The prediction for one launch at one size, or why there is none. `flops` and `bytes` are of this
// launch.
std::variant<Prediction, Evaluation> predict_launch(
    const DeviceSpec& device, const Problem& problem, const verify::LoadedLaunch& loaded,
    const KernelBinary& binary, const Symbols& symbols, std::optional<double> flops,
    std::optional<double> bytes, const Cancellation& cancellation) {
  auto gathered = gather_launch(device, problem, loaded, binary, symbols, cancellation);
  if (auto* failure = std::get_if<Evaluation>(&gathered)) return std::move(*failure);
  auto& launch = std::get<GatheredLaunch>(gathered);
  launch.flops = flops;
  launch.bytes = bytes;
  return predict(launch.input(), device);
}

// All launches of a plan at one size: times add up, the rest is of the launch that takes longest.
std::variant<Prediction, Evaluation> predict_plan(const DeviceSpec& device, const Problem& problem,
                                                  const std::vector<KernelBinary>& binaries,
                                                  const verify::LoadedPlan& plan,
                                                  const Symbols& symbols,
                                                  const Cancellation& cancellation) {
  const auto flops = amount(problem.flops, symbols);
  const auto bytes = amount(problem.bytes, symbols);
  if (plan.size() == 1) {
    return predict_launch(device, problem, plan.front(), binaries.front(), symbols, flops, bytes,
                          cancellation);
  }
  Prediction total;
  TimeEstimate sum;
  Facts caveats;  // of any launch
  double longest = -1.0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    // The useful work is known of all launches together only.
    auto one = predict_launch(device, problem, plan[i], binaries[i], symbols, std::nullopt,
                              std::nullopt, cancellation);
    if (std::holds_alternative<Evaluation>(one)) return one;
    auto& prediction = std::get<Prediction>(one);
    sum.median_seconds += prediction.time.median_seconds;
    sum.low_seconds += prediction.time.low_seconds;
    sum.high_seconds += prediction.time.high_seconds;
    add_caveats(prediction.facts, caveats);
    if (prediction.time.median_seconds <= longest) continue;
    longest = prediction.time.median_seconds;
    total = std::move(prediction);
  }
  add_caveats(caveats, total.facts);
  total.time.median_seconds = sum.median_seconds;
  total.time.low_seconds = sum.low_seconds;
  total.time.high_seconds = sum.high_seconds;
  total.roofline_seconds = std::max(bytes.value_or(0.0) / device.dram_bytes_per_second,
                                    flops.value_or(0.0) / device.peak_fp32_flops());
  if (total.roofline_seconds > 0.0) {
    total.facts["roofline_fraction"] = total.roofline_seconds / sum.median_seconds;
  }
  return total;
}

// Of the kernel that is optimised.
const ResourceUsage& resources_of(const Problem& problem, const CompiledPlan& compiled,
                                  const LaunchPlan& plan) {
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    if (plan.launches[i].kernel == problem.signature.name) return compiled.launches[i]->resources;
  }
  return compiled.launches.front()->resources;
}

}  // namespace

ModelEvaluator::ModelEvaluator(Compiler& compiler, Verifier& verifier, DeviceSpec device)
    : compiler_(compiler), verifier_(verifier), device_(device) {}

WorkCounting choose_counting(Compiler& compiler, const std::string& architecture) {
  CompileRequest request;
  request.source = sass::check_source();
  request.kernel = sass::kCheckKernel;
  request.architecture = architecture;
  const auto compiled = compiler.compile(request, Cancellation());
  if (!compiled.ok()) return WorkCounting::ptx;
  const auto code = sass::read_machine_code(compiled->cubin, compiled->entry);
  const auto program = ptx::Program::load(compiled->ptx, compiled->entry);
  const bool understood =
      code.ok() && program.ok() && sass::check_machine_code(*code, *program).ok();
  return understood ? WorkCounting::machine_code : WorkCounting::ptx;
}

Evaluation predict_time(const DeviceSpec& device, const Problem& problem,
                        const CompiledKernel& compiled, const LaunchPlan& plan,
                        const Cancellation& cancellation, WorkCounting counting) {
  return predict_time(device, problem, CompiledPlan::of(compiled, plan), plan, cancellation,
                      counting);
}

Evaluation predict_time(const DeviceSpec& device, const Problem& problem,
                        const CompiledPlan& compiled, const LaunchPlan& plan,
                        const Cancellation& cancellation, WorkCounting counting) {
  if (problem.bench.empty()) return failed(Verdict::unsupported, "the problem has no bench sizes");
  const auto loaded = verify::load_plan(compiled, plan);
  if (!loaded) return failed(verify::verdict_of(loaded.error().code), loaded.error().message);
  const std::vector<KernelBinary> binaries = read_binaries(compiled, counting);
  Evaluation result;
  result.resources = resources_of(problem, compiled, plan);
  result.machine_code = compiled.machine_code();
  double log_sum = 0.0;
  double log_low = 0.0;
  double log_high = 0.0;
  double log_roofline = 0.0;
  for (const Symbols& symbols : problem.bench) {
    auto predicted = predict_plan(device, problem, binaries, *loaded, symbols, cancellation);
    if (auto* failure = std::get_if<Evaluation>(&predicted)) return std::move(*failure);
    auto& prediction = std::get<Prediction>(predicted);
    log_sum += std::log(prediction.time.median_seconds);
    log_low += std::log(prediction.time.low_seconds);
    log_high += std::log(prediction.time.high_seconds);
    log_roofline +=
        prediction.roofline_seconds > 0.0 ? std::log(prediction.roofline_seconds) : -INFINITY;
    add_caveats(result.facts, prediction.facts);  // of any size
    result.facts = std::move(prediction.facts);
    result.bottleneck = std::move(prediction.bottleneck);
  }
  const auto count = static_cast<double>(problem.bench.size());
  result.time = {std::exp(log_sum / count), std::exp(log_low / count), std::exp(log_high / count),
                 1, TimeMethod::predicted};
  result.roofline_seconds = std::isfinite(log_roofline) ? std::exp(log_roofline / count) : 0.0;
  result.verdict = Verdict::correct;
  return result;
}

Evaluation ModelEvaluator::evaluate(const Problem& problem, const Candidate& candidate,
                                    const EvaluationBudget& budget,
                                    const Cancellation& cancellation) {
  const Deadline deadline(budget.wall_seconds, cancellation);
  Evaluation result = judge(problem, candidate, budget, deadline.cancellation());
  if (deadline.expired() && !result.correct()) {
    result.verdict = Verdict::timeout;
    result.message = fmt::format("not judged within {:g} seconds", budget.wall_seconds);
  }
  return result;
}

Evaluation ModelEvaluator::judge(const Problem& problem, const Candidate& candidate,
                                 const EvaluationBudget& budget, const Cancellation& cancellation) {
  auto compiled = compile_plan(compiler_, candidate.source, candidate.plan,
                               std::string(device_.architecture), cancellation);
  if (!compiled) return failed(verify::verdict_of(compiled.error().code), compiled.error().message);
  const auto refused = [&](Verdict verdict, std::string message) {
    Evaluation result = failed(verdict, std::move(message));
    result.resources = resources_of(problem, *compiled, candidate.plan);
    result.machine_code = compiled->machine_code();
    return result;
  };
  const auto prepared = verifier_.prepare(*compiled, candidate.plan);
  if (!prepared) {
    return refused(verify::launch_verdict(prepared.error().code), prepared.error().message);
  }
  const VerificationResult tested = verifier_.verify(**prepared, budget.seed, cancellation);
  if (!tested.correct()) return refused(tested.verdict, tested.message);
  std::call_once(checked_, [this] {
    counting_ = choose_counting(compiler_, std::string(device_.architecture));
  });
  Evaluation result =
      predict_time(device_, problem, *compiled, candidate.plan, cancellation, counting_);
  if (!result.correct() || verifier_.original() == nullptr) return result;
  // It must also do its work at the sizes that the prediction is about.
  const VerificationResult timed =
      verifier_.verify_bench(**prepared, tested, budget.seed, budget.effort, cancellation);
  if (!timed.correct()) return refused(timed.verdict, timed.message);
  if (const auto less =
          witness_.missing(problem, *verifier_.original(), (*prepared)->loaded, cancellation)) {
    result.verdict = Verdict::suspicious;
    result.message = *less;
  }
  return result;
}

}  // namespace regraph
