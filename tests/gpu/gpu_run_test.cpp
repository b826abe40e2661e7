// What a kernel may do to the GPU, and what the harness makes of it.
#include "gpu/gpu_judge.h"

#include <chrono>

namespace regraph::gpu_run_test {
namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kScale = R"yaml(
sizes: {n: 100000}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 257}, {n: 1}]
)yaml";

std::string body(const std::string& statements) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         statements + "\n}\n";
}
const std::string kHonest = body("if (i < n) out[i] = 2.0f * in[i];");

class GpuRun : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    problem_ = test::problem_of(
        kScale, {test::buffer("in", true), test::buffer("out", false), test::number("n")}, kHonest);
    verifier_ = std::make_unique<Verifier>(problem_, machine().compile(kHonest));
  }

  VerificationResult judge(const std::string& source, double timeout = 2.0) {
    return judge_.judge(*verifier_, machine().compile(source), problem_.launch, timeout);
  }

  void expect(Verdict verdict, const std::string& statements, double timeout = 2.0) {
    const auto start = Clock::now();
    const VerificationResult result = judge(body(statements), timeout);
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    EXPECT_STREQ(name(result.verdict), name(verdict)) << statements << "\n" << result.message;
    std::printf("%-60.60s %-14s %.2f s  %s\n", statements.c_str(), name(result.verdict), seconds,
                result.message.c_str());
    // Whatever it did, the next one is judged soundly.
    const VerificationResult after = judge(kHonest);
    EXPECT_TRUE(after.correct()) << "after " << statements << ": " << after.message;
  }

  Problem problem_;
  std::unique_ptr<Verifier> verifier_;
  test::GpuJudge judge_;
};

TEST_F(GpuRun, HonestKernelsPass) {
  const VerificationResult result = judge(kHonest);
  EXPECT_TRUE(result.correct()) << result.message;
  EXPECT_GE(result.runs, 15);
  EXPECT_TRUE(judge(body("if (i < n) out[i] = in[i] + in[i];")).correct());
}

TEST_F(GpuRun, WrongResultsAreFound) {
  expect(Verdict::wrong_result, "if (i < n) out[i] = 2.001f * in[i];");
  expect(Verdict::wrong_result, "");
  expect(Verdict::wrong_result, "if (i < n - 1) out[i] = 2.0f * in[i];");
}

TEST_F(GpuRun, FaultsAreNamedAndSurvived) {
  expect(Verdict::out_of_bounds, "if (i <= n) out[i] = 2.0f * in[i];");
  expect(Verdict::out_of_bounds, "if (i < n) out[i] = 2.0f * in[i - 1] - in[i] * 0.0f;");
  expect(Verdict::out_of_bounds, "if (i < n) ((float*)in)[i] = out[i] = 2.0f * in[i];");
  expect(Verdict::out_of_bounds, "if (i < n) out[i] = *(float*)16;");
  expect(Verdict::misaligned_access,
         "if (i < n) out[i] = 2.0f * in[i]; if (i == 0) out[0] = *(float*)((char*)in + 1);");
  expect(Verdict::crash, "if (i < n) out[i] = 2.0f * in[i]; __trap();");
  expect(Verdict::timeout, "while (((volatile int*)out)[0] != 123456789) {}", 0.5);
}

TEST_F(GpuRun, AssertAndPrintfAndMallocDoNoHarm) {
  expect(Verdict::crash, "if (i < n) out[i] = 2.0f * in[i]; assert(n < 0);");
  // How long printing takes is the host's matter: it may be too long, but harms nobody.
  const VerificationResult flood =
      judge(body("for (int j = 0; j < 100; ++j) printf(\"flood %d %d\\n\", i, j); "
                 "if (i < n) out[i] = 2.0f * in[i];"));
  EXPECT_TRUE(flood.correct() || flood.verdict == Verdict::timeout) << flood.message;
  const VerificationResult after_flood = judge(kHonest);
  EXPECT_TRUE(after_flood.correct()) << after_flood.message;
  expect(Verdict::unsupported,
         "for (int j = 0; j < 100; ++j) { char* p = (char*)malloc(1 << 20); if (p) *p = 1; } "
         "if (i < n) out[i] = 2.0f * in[i];");
}

TEST_F(GpuRun, ClustersAreLaunchedAsTheKernelWantsThem) {
  const std::string& architecture = machine().device().architecture;
  if (architecture.size() == 5 && architecture < "sm_90")
    GTEST_SKIP() << "no clusters before sm_90";
  problem_.launch.launches[0].grid[0] = *IntegerExpression::parse("2 * cdiv(n, 2 * bx)");
  const std::string place =
      "  unsigned rank, id;\n  asm volatile(\"mov.u32 %0, %%cluster_ctarank;\" : \"=r\"(rank));\n"
      "  asm volatile(\"mov.u32 %0, %%clusterid.x;\" : \"=r\"(id));\n"
      "  int i = (id * 2 + rank) * blockDim.x + threadIdx.x;\n"
      "  asm volatile(\"barrier.cluster.arrive; barrier.cluster.wait;\");\n"
      "  if (i < n) out[i] = 2.0f * in[i];\n}\n";
  const std::string head = "k(const float* in, float* out, int n) {\n";
  const VerificationResult right =
      judge("__global__ void __cluster_dims__(2, 1, 1) " + head + place);
  EXPECT_TRUE(right.correct()) << right.message;
  // Each block a cluster of its own: the elements of other blocks are never written.
  EXPECT_EQ(judge("__global__ void " + head + place).verdict, Verdict::wrong_result);
}

TEST_F(GpuRun, WhatCannotBeLaunchedIsALaunchError) {
  problem_.launch.launches[0].dynamic_shared_bytes = 300000;
  VerificationResult result = judge(kHonest);
  EXPECT_EQ(result.verdict, Verdict::launch_error) << result.message;
  problem_.launch.launches[0].dynamic_shared_bytes = 0;
  problem_.launch.launches[0].block = {1024, 1, 1};
  result = judge(
      "__global__ void __launch_bounds__(256) k(const float* in, float* out, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) out[i] = 2.0f * in[i];\n}\n");
  EXPECT_EQ(result.verdict, Verdict::launch_error) << result.message;
}

TEST_F(GpuRun, AWorkerThatIsKilledIsAnErrorAndNotAVerdict) {
  ASSERT_TRUE(judge(kHonest).correct());
  Cancellation stop;
  stop.request();
  auto freed = judge_.process().free({{}, {}}, stop);
  EXPECT_FALSE(freed.ok());
  EXPECT_FALSE(judge_.process().alive());
  EXPECT_TRUE(judge(kHonest).correct());
}

}  // namespace
}  // namespace regraph::gpu_run_test
