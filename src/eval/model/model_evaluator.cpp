#include "eval/model/model_evaluator.h"

#include "base/deadline.h"
#include "eval/model/sampling.h"
#include "eval/model/timing_model.h"
#include "eval/verify/fault_verdict.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace regraph {
namespace {

Evaluation failed(Verdict verdict, std::string message) {
  Evaluation result;
  result.verdict = verdict;
  result.message = std::move(message);
  return result;
}

Verdict verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::compile:
      return Verdict::compile_error;
    case ErrorCode::resource:
    case ErrorCode::cancelled:
      return Verdict::timeout;
    case ErrorCode::unsupported:
    case ErrorCode::parse:
      return Verdict::unsupported;
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
      return Verdict::launch_error;
    default:
      return Verdict::crash;
  }
}

// What went wrong in a sampled block, with where in the source.
Evaluation failed_at(const Symbols& symbols, const ptx::Fault& fault) {
  std::string sizes;
  for (const auto& [name, value] : symbols) {
    sizes += (sizes.empty() ? "" : ", ") + name + ": " + std::to_string(value);
  }
  std::string text = fault.message.empty() ? std::string(ptx::name(fault.kind)) : fault.message;
  if (fault.source_line > 0) text += " (line " + std::to_string(fault.source_line) + ")";
  return failed(verify::verdict_of(fault.kind), "at the benchmark size {" + sizes + "}: " + text);
}

std::optional<double> amount(const std::optional<IntegerExpression>& expression,
                             const Symbols& symbols) {
  if (!expression) return std::nullopt;
  auto value = expression->evaluate(symbols);
  if (!value || *value <= 0) return std::nullopt;
  return static_cast<double>(*value);
}

}  // namespace

ModelEvaluator::ModelEvaluator(Compiler& compiler, Verifier& verifier, DeviceSpec device)
    : compiler_(compiler), verifier_(verifier), device_(device) {}

Evaluation predict_time(const DeviceSpec& device, const Problem& problem,
                        const CompiledKernel& compiled, const LaunchPlan& plan,
                        const Cancellation& cancellation) {
  if (plan.launches.size() != 1)
    return failed(Verdict::unsupported, "several launches in one plan");
  if (problem.bench.empty()) return failed(Verdict::unsupported, "the problem has no bench sizes");
  auto program = ptx::Program::load(compiled.ptx, compiled.entry);
  if (!program) return failed(verdict_of(program.error().code), program.error().message);
  Evaluation result;
  result.resources = compiled.resources;
  result.machine_code = compiled.machine_code;
  double log_sum = 0.0;
  double log_low = 0.0;
  double log_high = 0.0;
  double log_roofline = 0.0;
  for (const Symbols& symbols : problem.bench) {
    auto launch = concretise(plan.launches.front(), symbols);
    if (!launch) return failed(Verdict::launch_error, launch.error().message);
    const std::int64_t shared = compiled.resources.static_shared_bytes +
                                static_cast<std::int64_t>(launch->dynamic_shared_bytes);
    auto occupancy = occupancy_of(device, static_cast<int>(launch->block.count()),
                                  compiled.resources.registers_per_thread, shared);
    if (!occupancy) return failed(Verdict::launch_error, occupancy.error().message);
    auto sample = sample_launch(problem, *program, *launch, symbols, device, *occupancy, shared,
                                cancellation);
    if (!sample) return failed(verdict_of(sample.error().code), sample.error().message);
    if (sample->fault.kind != ptx::FaultKind::none) return failed_at(symbols, sample->fault);
    Prediction prediction =
        predict({*program, sample->profile, sample->traffic, compiled.resources, *launch,
                 *occupancy, amount(problem.flops, symbols), amount(problem.bytes, symbols)},
                device);
    log_sum += std::log(prediction.time.median_seconds);
    log_low += std::log(prediction.time.low_seconds);
    log_high += std::log(prediction.time.high_seconds);
    log_roofline +=
        prediction.roofline_seconds > 0.0 ? std::log(prediction.roofline_seconds) : -INFINITY;
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
  if (candidate.plan.launches.size() != 1) {
    return failed(Verdict::unsupported, "several launches in one plan");
  }
  CompileRequest request;
  request.source = candidate.source;
  request.kernel = candidate.plan.launches.front().kernel;
  request.architecture = std::string(device_.architecture);
  auto compiled = compiler_.compile(request, cancellation);
  if (!compiled) return failed(verdict_of(compiled.error().code), compiled.error().message);
  const VerificationResult verification =
      verifier_.verify(*compiled, candidate.plan, budget.seed, cancellation);
  if (!verification.correct()) {
    Evaluation result = failed(verification.verdict, verification.message);
    result.resources = compiled->resources;
    result.machine_code = compiled->machine_code;
    return result;
  }
  return predict_time(device_, problem, *compiled, candidate.plan, cancellation);
}

}  // namespace regraph
