#include "eval/verify/double_shadow.h"

#include "base/random.h"
#include "eval/verify/double_source.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>

namespace regraph::verify {

namespace {

constexpr double kUnit = 0x1p-24;  // of rounding in fp32
constexpr double kOriginalFactor = 4.0;
constexpr double kSumFactor = 0.5;
constexpr double kInputFactor = 2.0;
// The translation may be another program: the original must be near it.
constexpr double kPlausible = 1e-2;
// Over sqrt(n). A single element that jumps moves the norm by its 1 / sqrt(n).
constexpr double kLargestTau = 0.05;
// Uniform between -u and u times that has standard deviation u.
constexpr double kSpread = 1.7320508;
constexpr std::uint64_t kPerturbationSeed = 0xD0B1;
constexpr std::uint64_t kPerturbations = 2;
// Of few elements chance may move none.
constexpr std::size_t kFewElements = 64;
constexpr std::uint64_t kMorePerturbations = 6;
constexpr long double kLuck = 3.0L;

std::span<const double> doubles(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const double*>(bytes.data()), bytes.size() / sizeof(double)};
}
std::span<const float> floats(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const float*>(bytes.data()), bytes.size() / sizeof(float)};
}

// The inputs in double; `draw` 0 as they are, else every fp32 one moved by about half a unit.
Buffers widened(const Problem& problem, const Buffers& inputs, std::uint64_t draw) {
  Buffers wide(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (problem.arguments[i].type != ScalarType::f32) {
      wide[i] = inputs[i];
      continue;
    }
    const std::span<const float> from = floats(inputs[i]);
    wide[i].resize(from.size() * sizeof(double));
    for (std::size_t e = 0; e < from.size(); ++e) {
      double value = from[e];
      if (draw != 0) {
        const double moves =
            2.0 * to_unit_interval(random_bits(kPerturbationSeed, draw, i, e)) - 1.0;
        value *= 1.0 + kSpread * kUnit * moves;
      }
      std::memcpy(wide[i].data() + e * sizeof(double), &value, sizeof(value));
    }
  }
  return wide;
}

// Sums over elements that are finite in all that is compared.
struct Norms {
  long double reference = 0.0L;
  long double original = 0.0L;
  long double perturbed = 0.0L;  // the largest of the draws
  std::size_t elements = 0;
};

Norms norms_of(std::span<const double> exact, std::span<const float> original,
               const std::vector<std::uint8_t>& untouched,
               const std::vector<std::span<const double>>& moved) {
  Norms norms;
  std::vector<long double> changes(moved.size(), 0.0L);
  for (std::size_t e = 0; e < exact.size(); ++e) {
    if (!std::isfinite(exact[e]) || !std::isfinite(original[e])) continue;
    if (!untouched.empty() && untouched[e] != 0) continue;
    ++norms.elements;
    norms.reference += static_cast<long double>(exact[e]) * exact[e];
    const long double error = static_cast<long double>(original[e]) - exact[e];
    norms.original += error * error;
    for (std::size_t m = 0; m < moved.size(); ++m) {
      const long double change = static_cast<long double>(moved[m][e]) - exact[e];
      if (std::isfinite(moved[m][e])) changes[m] += change * change;
    }
  }
  norms.reference = std::sqrt(norms.reference);
  norms.original = std::sqrt(norms.original);
  for (const long double change : changes)
    norms.perturbed = std::max(norms.perturbed, std::sqrt(change));
  return norms;
}

ExactOutput judge(const std::vector<std::byte>& exact_bytes, const std::vector<std::byte>& expected,
                  const std::vector<std::uint8_t>& untouched,
                  const std::vector<std::span<const double>>& moved, double reduction_length) {
  ExactOutput output;
  const std::span<const double> exact = doubles(exact_bytes);
  const std::span<const float> original = floats(expected);
  if (exact.size() != original.size()) return output;
  const Norms norms = norms_of(exact, original, untouched, moved);
  if (norms.reference <= 0.0L || norms.original > kPlausible * norms.reference) return output;
  const long double root = std::sqrt(std::max(reduction_length, 1.0));
  const long double sum =
      kSumFactor * root * (1.0L + kLuck / std::sqrt(static_cast<long double>(norms.elements)));
  // But for the original's error.
  const long double own = sum * kUnit * norms.reference + (kInputFactor + sum) * norms.perturbed;
  const auto tau_of = [&](long double bound) {
    return static_cast<double>(bound / norms.reference);
  };
  const double most = kLargestTau / std::sqrt(static_cast<double>(norms.elements));
  double tau = tau_of(own + kOriginalFactor * norms.original);
  output.original_is_far = tau > most;
  if (output.original_is_far) tau = tau_of(own);
  if (!(tau <= most)) return output;
  output.tau = tau;
  output.values = expected;
  for (std::size_t e = 0; e < exact.size(); ++e) {
    // Infinities, NaN and poison are the original's.
    if (!std::isfinite(exact[e]) || !std::isfinite(original[e])) continue;
    if (!untouched.empty() && untouched[e] != 0) continue;
    const auto rounded = static_cast<float>(exact[e]);
    if (std::isfinite(rounded))
      std::memcpy(output.values.data() + e * sizeof(float), &rounded, sizeof(rounded));
  }
  return output;
}

Problem widened_problem(const Problem& problem) {
  Problem wide = problem;
  for (Argument& argument : wide.arguments) {
    if (argument.type != ScalarType::f32) continue;
    argument.type = ScalarType::f64;
    if (argument.value) argument.value = argument.value->in_single();
  }
  return wide;
}

// The shadow's problem with the scalars of a variation.
Problem with_values(const Problem& shadow, const Problem& problem) {
  Problem wide = shadow;
  for (std::size_t i = 0; i < wide.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.value)
      wide.arguments[i].value =
          argument.type == ScalarType::f32 ? argument.value->in_single() : *argument.value;
  }
  return wide;
}

Result<LaunchPlan> widened_plan(const LaunchPlan& plan) {
  LaunchPlan wide = plan;
  for (Launch& launch : wide.launches) {
    const Result<std::string> name = in_double(launch.kernel);
    if (!name.ok()) return name.error();
    // Behind the translation's prelude.
    launch.kernel = name->substr(name->find('\n') + 1);
    const auto bytes = IntegerExpression::parse("2 * (" + launch.dynamic_shared_bytes.text() + ")");
    if (!bytes.ok()) return bytes.error();
    launch.dynamic_shared_bytes = *bytes;
  }
  return wide;
}

}  // namespace

Result<DoubleShadow> make_double_shadow(Compiler& compiler, const Problem& problem,
                                        const std::string& source, const std::string& architecture,
                                        const Cancellation& cancellation, ShadowUse use) {
  const bool any =
      std::any_of(problem.arguments.begin(), problem.arguments.end(),
                  [](const auto& one) { return one.is_output() && one.type == ScalarType::f32; });
  if (!any) return fail(ErrorCode::unsupported, "no output is in fp32");
  const bool plain = std::ranges::all_of(problem.arguments, [](const Argument& one) {
    return one.record_bytes == 0 && one.overlaps.empty();
  });
  if (!plain) return fail(ErrorCode::unsupported, "structures and overlaps would be others");
  const Result<std::string> translated = in_double(source);
  if (!translated.ok()) return translated.error();
  DoubleShadow shadow;
  shadow.problem = widened_problem(problem);
  const Result<LaunchPlan> plan = widened_plan(problem.launch);
  if (!plan.ok()) return plan.error();
  shadow.problem.launch = *plan;
  std::map<std::string, std::shared_ptr<const CompiledKernel>> known;
  for (const Launch& launch : plan->launches) {
    std::shared_ptr<const CompiledKernel>& kernel = known[launch.kernel];
    if (!kernel) {
      CompileRequest request;
      request.source = *translated;
      request.kernel = launch.kernel;
      request.architecture = architecture;
      request.want_cubin = use == ShadowUse::gpu;
      Result<CompiledKernel> result = compiler.compile(request, cancellation);
      if (!result.ok()) return result.error();
      kernel = std::make_shared<const CompiledKernel>(std::move(*result));
    }
    shadow.compiled.launches.push_back(kernel);
  }
  Result<LoadedPlan> loaded = load_plan(shadow.compiled, *plan);
  if (!loaded.ok()) return loaded.error();
  shadow.plan = std::move(*loaded);
  return shadow;
}

Result<std::vector<ExactOutput>> exact_outputs(
    const DoubleShadow& shadow, const Problem& problem, const Symbols& symbols,
    const Buffers& inputs, const Buffers& expected,
    const std::vector<std::vector<std::uint8_t>>& untouched, double reduction_length,
    std::uint64_t instruction_budget, const Cancellation& cancellation) {
  std::vector<ExactOutput> outputs(problem.arguments.size());
  std::vector<KernelRun> runs;
  const Problem wide = with_values(shadow.problem, problem);
  bool few = false;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    few |= problem.arguments[i].is_output() && floats(expected[i]).size() < kFewElements;
  }
  for (std::uint64_t draw = 0; draw <= (few ? kMorePerturbations : kPerturbations); ++draw) {
    RunSettings settings;
    settings.instruction_budget = instruction_budget;
    Result<KernelRun> run = run_kernel(wide, shadow.plan, symbols, widened(problem, inputs, draw),
                                       settings, cancellation);
    if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
    if (!run.ok() || run->fault.kind != ptx::FaultKind::none) return outputs;
    runs.push_back(std::move(*run));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_output() || argument.type != ScalarType::f32) continue;
    std::vector<std::span<const double>> moved;
    for (std::size_t r = 1; r < runs.size(); ++r)
      moved.push_back(doubles(runs[r].after[i]));
    outputs[i] = judge(runs[0].after[i], expected[i], untouched[i], moved, reduction_length);
  }
  return outputs;
}

}  // namespace regraph::verify
