#include "eval/model/predict_time.h"

#include "eval/verify/fault_verdict.h"
#include "eval/verify/loaded_plan.h"
#include "kernel/caveats.h"
#include "sass/machine_code.h"
#include "sass/machine_code_check.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace regraph {
namespace {

std::optional<double> amount(const std::optional<IntegerExpression>& expression,
                             const Symbols& symbols) {
  if (!expression) return std::nullopt;
  auto value = expression->evaluate(symbols);
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value);
}

// The prediction for one launch at one size, or why there is none. `flops` and `bytes` are of this
// launch.
Result<Prediction, Rejection> predict_launch(
    const DeviceSpec& device, const Problem& problem, const verify::LoadedLaunch& loaded,
    const KernelBinary& binary, const Symbols& symbols, std::optional<double> flops,
    std::optional<double> bytes, const Cancellation& cancellation, ThreadBudget* threads) {
  auto gathered = gather_launch(device, problem, loaded, binary, symbols, cancellation, threads);
  if (!gathered) return std::move(gathered).error();
  gathered->flops = flops;
  gathered->bytes = bytes;
  return predict(gathered->input(), device);
}

// All launches of a plan at one size: times add up, the rest is of the launch that takes longest.
Result<Prediction, Rejection> predict_plan(const DeviceSpec& device, const Problem& problem,
                                           const std::vector<KernelBinary>& binaries,
                                           const verify::LoadedPlan& plan, const Symbols& symbols,
                                           const Cancellation& cancellation,
                                           ThreadBudget* threads) {
  const auto flops = amount(problem.flops, symbols);
  const auto bytes = amount(problem.bytes, symbols);
  if (plan.size() == 1) {
    return predict_launch(device, problem, plan.front(), binaries.front(), symbols, flops, bytes,
                          cancellation, threads);
  }
  Prediction total;
  TimeEstimate sum;
  Facts caveats;  // of any launch
  double longest = -1.0;
  double peak_flops = 0.0;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    // The useful work is known of all launches together only.
    auto one = predict_launch(device, problem, plan[i], binaries[i], symbols, std::nullopt,
                              std::nullopt, cancellation, threads);
    if (!one) return one;
    sum.median_seconds += one->time.median_seconds;
    sum.low_seconds += one->time.low_seconds;
    sum.high_seconds += one->time.high_seconds;
    add_caveats(one->facts, caveats);
    peak_flops = std::max(peak_flops, one->peak_flops);
    if (one->time.median_seconds <= longest) continue;
    longest = one->time.median_seconds;
    total = std::move(*one);
  }
  add_caveats(caveats, total.facts);
  total.time.median_seconds = sum.median_seconds;
  total.time.low_seconds = sum.low_seconds;
  total.time.high_seconds = sum.high_seconds;
  total.roofline_seconds = std::max(bytes.value_or(0.0) / device.dram_bytes_per_second,
                                    flops.value_or(0.0) / peak_flops);
  total.peak_flops = peak_flops;
  if (total.roofline_seconds > 0.0) {
    total.facts["roofline_fraction"] = total.roofline_seconds / sum.median_seconds;
  }
  return total;
}

}  // namespace

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

Result<Prediction, Rejection> predict_time(const DeviceSpec& device, const Problem& problem,
                                           const CompiledPlan& compiled,
                                           const verify::LoadedPlan& loaded,
                                           const Cancellation& cancellation, WorkCounting counting,
                                           ThreadBudget* threads) {
  if (problem.bench.empty())
    return Rejection{Verdict::unsupported, "the problem has no bench sizes"};
  const std::vector<KernelBinary> binaries = read_binaries(compiled, counting);
  Prediction result;
  double log_sum = 0.0;
  double log_low = 0.0;
  double log_high = 0.0;
  double log_roofline = 0.0;
  for (const Symbols& symbols : problem.bench) {
    auto predicted =
        predict_plan(device, problem, binaries, loaded, symbols, cancellation, threads);
    if (!predicted) return predicted;
    log_sum += std::log(predicted->time.median_seconds);
    log_low += std::log(predicted->time.low_seconds);
    log_high += std::log(predicted->time.high_seconds);
    log_roofline +=
        predicted->roofline_seconds > 0.0 ? std::log(predicted->roofline_seconds) : -INFINITY;
    add_caveats(result.facts, predicted->facts);  // of any size
    result = std::move(*predicted);
  }
  const auto count = static_cast<double>(problem.bench.size());
  result.time = {std::exp(log_sum / count), std::exp(log_low / count), std::exp(log_high / count),
                 1, TimeMethod::predicted};
  result.roofline_seconds = std::isfinite(log_roofline) ? std::exp(log_roofline / count) : 0.0;
  return result;
}

Result<Prediction, Rejection> predict_time(const DeviceSpec& device, const Problem& problem,
                                           const CompiledPlan& compiled, const LaunchPlan& plan,
                                           const Cancellation& cancellation,
                                           WorkCounting counting) {
  const auto loaded = verify::load_plan(compiled, plan);
  if (!loaded) return Rejection{verify::verdict_of(loaded.error().code), loaded.error().message};
  return predict_time(device, problem, compiled, *loaded, cancellation, counting);
}

}  // namespace regraph
