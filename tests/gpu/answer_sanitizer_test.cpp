// The real compute-sanitizer, where it is installed.
#include "eval/gpu/answer_sanitizer.h"

#include "gpu_machine.h"

#include <cstdio>
#include <cstdlib>

namespace regraph::answer_sanitizer_test {
namespace {

constexpr const char* kManifest = R"yaml(
sizes: {n: 100000}
args: {in: {shape: [n]}, out: {dir: out, shape: [n]}}
launch: {block: 256, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 257}, {n: 1}]
)yaml";

std::string body(const std::string& statements) {
  return "__global__ void k(const float* in, float* out, int n) {\n"
         "  __shared__ float tile[256];\n"
         "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
         statements + "\n}\n";
}
const std::string kHonest = body("if (i < n) out[i] = 2.0f * in[i];");

class AnswerSanitizer : public test::GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    const auto toolkit = find_cuda_toolkit();
    const char* const path = std::getenv("PATH");
    const auto program =
        gpu::find_sanitizer(toolkit.ok() ? toolkit->root : "", path != nullptr ? path : "");
    if (!program) GTEST_SKIP() << "no compute-sanitizer is installed";
    config_.program = *program;
    problem_ = test::problem_of(
        kManifest, {test::buffer("in", true), test::buffer("out", false), test::number("n")},
        kHonest);
  }

  PreparedCandidate kernel(const std::string& source) {
    PreparedCandidate kernel;
    kernel.compiled = CompiledPlan::of(machine().compile(source), problem_.launch);
    kernel.plan = problem_.launch;
    auto loaded = verify::load_plan(kernel.compiled, kernel.plan);
    EXPECT_TRUE(loaded.ok()) << (loaded.ok() ? "" : loaded.error().message);
    if (loaded.ok()) kernel.loaded = std::move(*loaded);
    return kernel;
  }
  SanitizerReport run(const std::string& statements) {
    SanitizerReport report =
        gpu::sanitize_answer(config_, machine().worker(), problem_, kernel(kHonest),
                             kernel(body(statements)), 7, machine().never());
    for (const std::string& finding : report.findings)
      std::printf("finding: %s\n", finding.c_str());
    for (const std::string& note : report.notes)
      std::printf("note: %s\n", note.c_str());
    return report;
  }

  Problem problem_;
  gpu::SanitizerConfig config_;
};

TEST_F(AnswerSanitizer, HonestKernelsPass) {
  const SanitizerReport report = run("if (i < n) out[i] = in[i] + in[i];");
  EXPECT_EQ(report.tools, config_.tools);
  EXPECT_TRUE(report.findings.empty());
}

TEST_F(AnswerSanitizer, OneElementTooFarIsFound) {
  const SanitizerReport report = run("if (i <= n) out[i] = 2.0f;");
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].find("memcheck: Invalid __global__ write"), 0U);
}

TEST_F(AnswerSanitizer, AMissingBarrierIsFound) {
  const SanitizerReport report =
      run("tile[threadIdx.x] = i < n ? in[i] : 0.0f; "
          "if (i < n) out[i] = tile[threadIdx.x ^ 128] + in[i];");
  ASSERT_FALSE(report.findings.empty());
  EXPECT_EQ(report.findings[0].find("racecheck: "), 0U);
}

}  // namespace
}  // namespace regraph::answer_sanitizer_test
