#include "eval/model/calibration/fit.h"

#include "base/random.h"
#include "eval/model/gathered_launch.h"
#include "eval/model/model_test_support.h"
#include "eval/model/predict_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace regraph::calibration::fit_test {
namespace {

using Predict = std::function<double(const DeviceSpec&)>;

DeviceSpec h200() {
  return *find_device("h200");
}

// Normal, standard deviation 1: the sum of twelve uniform numbers.
double noise(std::uint64_t seed) {
  double sum = -6.0;
  for (std::uint64_t k = 0; k < 12; ++k)
    sum += to_unit_interval(random_bits(seed, k));
  return sum;
}

// A copy of `bytes`, in the model's way: launch, and DRAM with the latency of what is in flight.
Predict copy_of(double bytes) {
  return [bytes](const DeviceSpec& d) {
    const double stream = bytes / d.dram_bytes_per_second;
    const double latency = (d.dram_latency + d.block_launch_clocks) / d.clock_hertz;
    return d.kernel_launch_seconds +
           std::pow(std::pow(stream, d.memory_norm) + std::pow(latency, d.memory_norm),
                    1.0 / d.memory_norm);
  };
}

std::vector<const Sample*> pointers(const std::vector<Sample>& samples) {
  std::vector<const Sample*> result;
  for (const Sample& sample : samples)
    result.push_back(&sample);
  return result;
}

double fitted(const Fit& fit, const char* name) {
  return find_device_field(name)->get(fit.device);
}

TEST(FitDevice, ThereAreAtMostTwelveParametersWithinTheirLimits) {
  for (const DeviceSpec& device : known_devices()) {
    const auto parameters = fitted_parameters(device);
    EXPECT_LE(parameters.size(), 12U);
    std::set<std::string> names;
    for (const Parameter& parameter : parameters) {
      EXPECT_TRUE(names.insert(parameter.field->name).second);
      EXPECT_LT(parameter.least, parameter.field->get(device)) << parameter.field->name;
      EXPECT_GT(parameter.most, parameter.field->get(device)) << parameter.field->name;
      EXPECT_GE(parameter.least, parameter.field->least);
      EXPECT_LE(parameter.most, parameter.field->most);
      EXPECT_GT(parameter.prior_deviation, 0.0);
    }
  }
}

TEST(FitDevice, WithoutSamplesNothingMoves) {
  const auto parameters = fitted_parameters(h200());
  const Fit fit = fit_device(h200(), {}, parameters);
  EXPECT_EQ(fit.device, h200());
  EXPECT_EQ(fit.objective, 0.0);
}

TEST(FitDevice, PerfectPredictionsMoveNothing) {
  std::vector<Sample> samples;
  for (const double bytes : {1e6, 1e7, 1e8, 1e9})
    samples.push_back({"", "copy", false, copy_of(bytes)(h200()), copy_of(bytes)});
  const auto parameters = fitted_parameters(h200());
  EXPECT_EQ(fit_device(h200(), pointers(samples), parameters).device, h200());
}

// What the samples determine is recovered in spite of noise; what none depends on stays bit for
// bit.
TEST(FitDevice, RecoversWhatTheSamplesDetermine) {
  DeviceSpec truth = h200();
  truth.kernel_launch_seconds = 4.1e-6;
  truth.dram_bytes_per_second = 3.6e12;
  std::vector<Sample> samples;
  for (int i = 0; i < 60; ++i) {
    const double bytes = 1e4 * std::pow(1e5, i / 59.0);
    const Predict predict = copy_of(bytes);
    samples.push_back({"", "copy " + std::to_string(i), false,
                       predict(truth) * std::exp(0.03 * noise(static_cast<std::uint64_t>(i))),
                       predict});
  }
  const auto parameters = fitted_parameters(h200());
  const Fit fit = fit_device(h200(), pointers(samples), parameters);
  EXPECT_NEAR(fitted(fit, "dram_bytes_per_second") / 3.6e12, 1.0, 0.04);
  EXPECT_NEAR(fitted(fit, "kernel_launch_seconds") / 4.1e-6, 1.0, 0.06);
  EXPECT_LT(fit.objective, 0.2 * fit.start_objective);
  for (std::size_t j = 0; j < parameters.size(); ++j) {
    const std::string name = parameters[j].field->name;
    const bool in_formula = name == "kernel_launch_seconds" || name == "dram_bytes_per_second" ||
                            name == "dram_latency" || name == "block_launch_clocks" ||
                            name == "memory_norm";
    if (in_formula) {
      EXPECT_GT(fit.sensitivity[j], 0.0) << name;
    } else {
      EXPECT_EQ(fit.sensitivity[j], 0.0) << name;
      EXPECT_EQ(parameters[j].field->get(fit.device), parameters[j].field->get(h200())) << name;
    }
  }
}

// One kernel in ten that the model cannot express does not bend the numbers.
TEST(FitDevice, ShrugsOffAFewImpossibleSamples) {
  DeviceSpec truth = h200();
  truth.dram_bytes_per_second = 3.6e12;
  std::vector<Sample> samples;
  for (int i = 0; i < 40; ++i) {
    const Predict predict = copy_of(1e8 + 1e7 * i);
    samples.push_back({"", "copy " + std::to_string(i), false,
                       predict(truth) * (i % 10 == 3 ? 30.0 : 1.0), predict});
  }
  const Fit fit = fit_device(h200(), pointers(samples), fitted_parameters(h200()));
  EXPECT_NEAR(fitted(fit, "dram_bytes_per_second") / 3.6e12, 1.0, 0.04);
}

TEST(FitDevice, StaysWithinTheLimits) {
  std::vector<Sample> samples;
  for (int i = 0; i < 40; ++i)
    samples.push_back(
        {"", "copy " + std::to_string(i), false, 1e3 * copy_of(1e9)(h200()), copy_of(1e9)});
  const auto parameters = fitted_parameters(h200());
  const Fit fit = fit_device(h200(), pointers(samples), parameters);
  for (const Parameter& parameter : parameters) {
    EXPECT_GE(parameter.field->get(fit.device), parameter.least * (1 - 1e-12));
    EXPECT_LE(parameter.field->get(fit.device), parameter.most * (1 + 1e-12));
  }
  EXPECT_NEAR(fitted(fit, "dram_bytes_per_second"), h200().dram_bytes_per_second / 2.0, 1e6);
  EXPECT_LT(fit.objective, fit.start_objective);
}

// However many variants it has.
TEST(FitDevice, AFamilyIsOneObservation) {
  const auto fit_with = [](int variants) {
    std::vector<Sample> samples;
    for (int i = 0; i < variants; ++i)
      samples.push_back({"", "large", false, 1.1 * copy_of(1e9)(h200()), copy_of(1e9)});
    for (int i = 0; i < 4; ++i)
      samples.push_back({"", "small", false, 0.95 * copy_of(1e9)(h200()), copy_of(1e9)});
    return fitted(fit_device(h200(), pointers(samples), fitted_parameters(h200())),
                  "dram_bytes_per_second");
  };
  EXPECT_LT(fit_with(4), 0.99 * h200().dram_bytes_per_second);
  EXPECT_NEAR(fit_with(64) / fit_with(4), 1.0, 1e-4);
}

// The model itself, on kernels that run on the interpreter: a device of other numbers "measures".
class RealKernels : public ::testing::Test {
 protected:
  static void add(std::vector<Sample>& samples, const std::string& family, const Problem& problem,
                  const std::string& source, const DeviceSpec& truth) {
    const Cancellation never;
    auto gathered = GatheredPlan::gather(h200(), problem,
                                         CompiledPlan::of(test::compiled(source), problem.launch),
                                         problem.launch, never);
    ASSERT_TRUE(gathered.ok()) << gathered.error().message;
    const auto plan = std::make_shared<const GatheredPlan>(std::move(*gathered));
    Sample sample{problem.source_path, family, false, plan->seconds(truth),
                  [plan](const DeviceSpec& device) { return plan->seconds(device); }};
    samples.push_back(std::move(sample));
  }
};

Problem with_size(Problem problem, const std::string& symbol, std::int64_t value) {
  for (Symbols& bench : problem.bench)
    bench[symbol] = value;
  return problem;
}

TEST_F(RealKernels, GatheredOnceTheyArePredictedAsTheEvaluatorDoes) {
  const Cancellation never;
  const Problem problem = test::copy_problem();
  const CompiledKernel kernel = test::compiled(test::kCopy);
  const CompiledPlan plan = CompiledPlan::of(kernel, problem.launch);
  auto gathered = GatheredPlan::gather(h200(), problem, plan, problem.launch, never);
  ASSERT_TRUE(gathered.ok());
  DeviceSpec other = h200();
  other.dram_bytes_per_second = 2e12;
  other.memory_norm = 2.0;
  for (const DeviceSpec& device : {h200(), other}) {
    const auto whole = predict_time(device, problem, plan, problem.launch, never);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_NEAR(gathered->seconds(device) / whole->time.median_seconds, 1.0, 1e-12);
  }
  EXPECT_GT(gathered->seconds(other), gathered->seconds(h200()));
}

TEST_F(RealKernels, RecoverTheDeviceThatTimedThem) {
  DeviceSpec truth = h200();
  truth.kernel_launch_seconds = 3.4e-6;
  truth.dram_bytes_per_second = 3.7e12;
  truth.shared_latency = 31.0;
  std::vector<Sample> samples;
  // Every size counts in full, as a family of its own.
  for (int power = 10; power <= 26; ++power) {
    add(samples, "copy of 2^" + std::to_string(power),
        with_size(test::copy_problem(), "n", std::int64_t{1} << power), test::kCopy, truth);
  }
  // Copies cannot tell DRAM from writes to the L2; reading can.
  const Problem reads = test::problem_of(
      "sizes: {n: 65536}\nargs: {in: {shape: [16, n]}, out: {dir: out, shape: [n]}}\n"
      "launch: {block: 256, grid: \"cdiv(n, bx)\"}\ntests: [{n: 1000}]\n",
      {test::input("in"), test::output("out"), test::number("n")});
  const std::string read_source = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) sum += in[k * n + i];
  out[i] = sum;
}
)cuda";
  for (int power = 16; power <= 24; ++power) {
    add(samples, "reading 2^" + std::to_string(power),
        with_size(reads, "n", std::int64_t{1} << power), read_source, truth);
  }
  const char* const chain_yaml = R"yaml(
sizes: {n: 16896}
args: {in: {shape: [n], init: "int(0,1023)"}, out: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 1000}]
)yaml";
  std::vector<regraph::Parameter> parameters = {test::input("in"), test::output("out"),
                                                test::number("n")};
  parameters[0].type = parameters[1].type = ScalarType::i32;
  const Problem chain = test::problem_of(chain_yaml, parameters);
  const std::string chain_source = R"cuda(
__global__ void k(const int* in, int* out, int n) {
  __shared__ int table[1024];
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) table[k] = (k * 5 + 7) & 1023;
  __syncthreads();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at = in[i];
  for (int k = 0; k < 1000; ++k) at = table[at];
  out[i] = at;
}
)cuda";
  for (const std::int64_t n : {128, 4224, 8448, 16896, 33792, 67584})
    add(samples, "chain of " + std::to_string(n), with_size(chain, "n", n), chain_source, truth);
  const Fit fit = fit_device(h200(), pointers(samples), fitted_parameters(h200()));
  EXPECT_NEAR(fitted(fit, "dram_bytes_per_second") / 3.7e12, 1.0, 0.05);
  EXPECT_NEAR(fitted(fit, "kernel_launch_seconds") / 3.4e-6, 1.0, 0.1);
  EXPECT_NEAR(fitted(fit, "shared_latency") / 31.0, 1.0, 0.1);
  EXPECT_LT(fit.objective, 0.1 * fit.start_objective);
  for (const Sample& sample : samples)
    EXPECT_NEAR(sample.predict(fit.device) / sample.measured_seconds, 1.0, 0.06) << sample.family;
}

}  // namespace
}  // namespace regraph::calibration::fit_test
