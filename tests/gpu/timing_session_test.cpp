// Times that can be trusted: a kernel is as fast as itself, and a faster one is found to be.
#include "eval/gpu/timing/timing_session.h"

#include "eval/verify/loaded_plan.h"
#include "gpu_machine.h"

namespace regraph::timing_session_test {
namespace {

using namespace gpu;

constexpr const char* kManifest = R"yaml(
sizes: {n: 1024}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}]
bench: [{n: 20000000}]
)yaml";

const std::string kSimple = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
}
)cuda";

const std::string kWasteful = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float x = in[i];
    for (int j = 0; j < 400; ++j) x = x * 1.0000001f + 1e-9f;
    out[i] = 2.0f * in[i] + (x > 1e30f ? x : 0.0f);
  }
}
)cuda";

class Timing : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    problem = test::problem_of(
        kManifest, {test::buffer("in", true), test::buffer("out", false), test::number("n")},
        kSimple);
  }
  std::shared_ptr<const PreparedCandidate> kernel(const std::string& source) {
    auto made = std::make_shared<PreparedCandidate>();
    made->compiled = CompiledPlan::of(machine().compile(source), problem.launch);
    made->plan = problem.launch;
    auto loaded = verify::load_plan(made->compiled, made->plan);
    EXPECT_TRUE(loaded.ok());
    made->loaded = std::move(*loaded);
    return made;
  }
  TimingConfig config() {
    TimingConfig made;
    made.worker = machine().worker();
    made.seed = 5;
    made.test = problem.tests[0];
    return made;
  }
  static void print(const char* what, const TimingReport& report) {
    const RaceOutcome& race = report.benches[0].race;
    std::printf("%-12s %8.2f us [%.2f %.2f], %d samples, %s, %s%s\n", what,
                race.candidate.median * 1e6, race.candidate.minimum * 1e6,
                race.candidate.third_quartile * 1e6, race.samples, gpu::name(race.end),
                race.verdict ? regraph::name(race.verdict->word) : "-",
                report.benches[0].difference.c_str());
  }
  Problem problem;
};

TEST_F(Timing, AFasterKernelIsFoundAndBecomesTheIncumbent) {
  const auto slow = kernel(kWasteful);
  TimingSession session(problem, slow, config());
  auto baseline = session.race(slow, machine().never());
  ASSERT_TRUE(baseline.ok()) << baseline.error().message;
  print("baseline", *baseline);
  auto fast = session.race(kernel(kSimple), machine().never());
  ASSERT_TRUE(fast.ok()) << fast.error().message;
  print("faster", *fast);
  EXPECT_TRUE(fast->faster);
  EXPECT_EQ(fast->benches[0].difference, "");
  auto again = session.race(kernel(kSimple), machine().never());
  ASSERT_TRUE(again.ok()) << again.error().message;
  print("the same", *again);
  EXPECT_FALSE(again->faster);
  auto back = session.race(kernel(kWasteful), machine().never());
  ASSERT_TRUE(back.ok());
  print("slower", *back);
  EXPECT_EQ(back->benches[0].race.end, RaceEnd::dropped_at_first_look);
  for (const bool cold : {true, false}) {
    auto pair = session.compare_with_original(kernel(kSimple), {40, 0.5, cold}, machine().never());
    ASSERT_TRUE(pair.ok()) << pair.error().message;
    EXPECT_GE((*pair)[0].kernel.size(), 40U);
    EXPECT_EQ((*pair)[0].kernel.size(), (*pair)[0].original.size());
    EXPECT_LT(summarize((*pair)[0].kernel).third_quartile, summarize((*pair)[0].original).minimum);
  }
  auto itself = session.compare_with_original(slow, {20, 0.5, true}, machine().never());
  ASSERT_TRUE(itself.ok()) << itself.error().message;
  EXPECT_GE((*itself)[0].kernel.size(), 20U);
  EXPECT_TRUE((*itself)[0].original.empty());
  const SessionHealth health = session.health();
  std::printf("clock %.0f MHz, noise %.2f %%, %d processes, %d blocks\n", health.clock_hertz / 1e6,
              health.noise[0] * 100, health.processes, health.blocks);
  EXPECT_GT(health.clock_hertz, 1e8);
}

TEST_F(Timing, WrongOutputsOfTimedLaunchesAreFound) {
  const auto original = kernel(kSimple);
  TimingSession session(problem, original, config());
  ASSERT_TRUE(session.race(original, machine().never()).ok());
  // Right at the test sizes, wrong beyond.
  std::string source = kSimple;
  source.replace(source.find("2.0f * in[i]"), 12, "n > 100000 ? 0.0f : 2.0f * in[i]");
  auto report = session.race(kernel(source), machine().never());
  ASSERT_TRUE(report.ok()) << report.error().message;
  EXPECT_NE(report->benches[0].difference, "");
  EXPECT_FALSE(report->faster);
}

TEST_F(Timing, AFaultAtTheBenchSizeIsTheCandidatesAndIsSurvived) {
  const auto original = kernel(kSimple);
  TimingSession session(problem, original, config());
  ASSERT_TRUE(session.race(original, machine().never()).ok());
  std::string source = kSimple;
  source.replace(source.find("if (i < n)"), 10, "if (n > 100000) __trap(); if (i < n)");
  auto report = session.race(kernel(source), machine().never());
  ASSERT_FALSE(report.ok());
  EXPECT_TRUE(session.candidates_fault());
  EXPECT_TRUE(report.error().final);
  std::printf("%s\n", report.error().message.c_str());
  auto next = session.race(kernel(kSimple), machine().never());
  ASSERT_TRUE(next.ok()) << next.error().message;
  EXPECT_EQ(session.health().processes, 2);
}

// What the host puts into __constant__ variables is there for the reference, too.
TEST_F(Timing, ConstantsAreSetBeforeAnythingIsCompared) {
  const std::string source = R"cuda(
__constant__ float factor[4];
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor[i % 4] * in[i];
}
)cuda";
  std::string manifest = kManifest;
  manifest.replace(manifest.find("args: {"), 7, "args: {factor: {shape: [4]}, ");
  Parameter factor = test::buffer("factor", true);
  factor.is_symbol = true;
  factor.symbol_elements = 4;
  problem = test::problem_of(
      manifest, {test::buffer("in", true), test::buffer("out", false), test::number("n"), factor},
      source);
  const auto original = kernel(source);
  TimingSession session(problem, original, config());
  ASSERT_TRUE(session.race(original, machine().never()).ok());
  auto again = session.race(kernel(source), machine().never());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_EQ(again->benches[0].difference, "");
}

// Additions of less than half a unit in the last place leave a large partial sum as it is: the
// original stops at 2^23, half of the sum, and a sum by warps does not.
TEST_F(Timing, ASumThatRoundsLessThanTheOriginalIsNotWrong) {
  const std::string original_source = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(out, in[i]);
}
)cuda";
  const std::string by_warps = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = i < n ? in[i] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(~0u, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, sum);
}
)cuda";
  constexpr const char* kSums = R"yaml(
sizes: {n: 1024}
args: {in: {shape: [n], init: "uniform(0,0.5)"}, out: {dir: inout, shape: [1]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}]
bench: [{n: 60000000}]
check: {tolerance: 1.0e-3}
)yaml";
  Parameter out = test::buffer("out", false);
  problem =
      test::problem_of(kSums, {test::buffer("in", true), out, test::number("n")}, original_source);
  TimingConfig timing = config();
  timing.arithmetic.reduction_length = 1000.0;
  const auto original = kernel(original_source);
  TimingSession session(problem, original, timing);
  ASSERT_TRUE(session.race(original, machine().never()).ok());
  auto better = session.race(kernel(by_warps), machine().never());
  ASSERT_TRUE(better.ok()) << better.error().message;
  print("by warps", *better);
  EXPECT_EQ(better->benches[0].difference, "");
  EXPECT_TRUE(better->faster);
  EXPECT_EQ(session.health().exact_looks, 1);
  // A single element more or less shows.
  std::string wrong = by_warps;
  wrong.replace(wrong.find("i < n ? in[i]"), 13, "i < n - (n > 100000 ? 97 : 0) ? in[i]");
  auto report = session.race(kernel(wrong), machine().never());
  ASSERT_TRUE(report.ok()) << report.error().message;
  std::printf("%s\n", report->benches[0].difference.c_str());
  EXPECT_NE(report->benches[0].difference, "");
}

// A mean is never exact: the division leaves small integers no sums to agree on. The original's
// additions are lost, each less than half a unit of the sum, and what it computes in double says
// that a sum in parts is right.
TEST_F(Timing, AMeanThatRoundsLessThanTheOriginalIsNotWrong) {
  const std::string original_source = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < 256) {
    float sum = 1050000.0f;
    for (int i = 0; i < n; ++i) sum += in[(long)row * n + i];
    out[row] = sum / (float)n;
  }
}
)cuda";
  // Faster, too: 64 loads at once. What is dropped as slow is not compared.
  const std::string in_parts = R"cuda(
__global__ void k(const float* in, float* out, int n) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < 256) {
    float sum = 1050000.0f;
    int last = n;
    for (int part = 0; part + 1024 <= last; part += 1024) {
      float own = 0.0f;
#pragma unroll 64
      for (int i = 0; i < 1024; ++i) own += in[(long)row * n + part + i];
      sum += own;
    }
    float rest = 0.0f;
    for (int i = last / 1024 * 1024; i < last; ++i) rest += in[(long)row * n + i];
    out[row] = (sum + rest) / (float)n;
  }
}
)cuda";
  constexpr const char* kMeans = R"yaml(
sizes: {n: 1024}
args: {in: {shape: [256, n], init: "uniform(0,0.015)"}, out: {dir: out, shape: [256]}}
launch: {block: 32, grid: "cdiv(256, bx)"}
tests: [{n: 1000}]
bench: [{n: 1100003}]
check: {tolerance: 1.0e-4}
)yaml";
  problem = test::problem_of(
      kMeans, {test::buffer("in", true), test::buffer("out", false), test::number("n")},
      original_source);
  TimingConfig timing = config();
  timing.arithmetic.reduction_length = 1000.0;
  const auto original = kernel(original_source);
  const auto difference_of = [&](TimingSession& session, const std::string& source) {
    EXPECT_TRUE(session.race(original, machine().never()).ok());
    auto report = session.race(kernel(source), machine().never());
    EXPECT_TRUE(report.ok()) << report.error().message;
    return report.ok() ? report->benches[0].difference : "";
  };
  {
    TimingSession session(problem, original, timing);
    EXPECT_NE(difference_of(session, in_parts), "") << "the original is near enough: no test";
  }
  timing.make_double_shadow = [&](const Cancellation& stop) {
    return verify::make_double_shadow(machine().compiler(), problem, original_source,
                                      machine().device().architecture, stop,
                                      verify::ShadowUse::gpu);
  };
  TimingSession session(problem, original, timing);
  EXPECT_EQ(difference_of(session, in_parts), "");
  EXPECT_EQ(session.health().double_looks, 1);
  // A fifth of the terms less shows.
  std::string wrong = in_parts;
  wrong.replace(wrong.find("last = n;"), 9, "last = n - (n > 100000 ? n / 5 : 0);");
  const std::string difference = difference_of(session, wrong);
  std::printf("%s\n", difference.c_str());
  EXPECT_NE(difference.find("double precision"), std::string::npos);
}

}  // namespace
}  // namespace regraph::timing_session_test
