// Inputs under which the original's own result is mostly rounding.
#include "eval/verify/conditioning.h"

#include "eval/verify/verifier_test_support.h"

namespace regraph::conditioning_test {
namespace {

const Cancellation kNever;

// The variance of rows as the mean of squares less the square of the mean: nothing of it is left
// where the mean is large.
constexpr const char* kVariance = R"cuda(
__global__ void k(const float* x, float* y, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0.0f, squares = 0.0f;
  for (int c = 0; c < C; ++c) {
    float v = x[r * C + c];
    sum += v;
    squares += v * v;
  }
  float mean = sum / C;
  y[r] = squares / C - mean * mean;
}
)cuda";
// The same in four sums.
constexpr const char* kFourSums = R"cuda(
__global__ void k(const float* x, float* y, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum[4] = {}, squares[4] = {};
  for (int c = 0; c < C; ++c) {
    float v = x[r * C + c];
    sum[c % 4] += v;
    squares[c % 4] += v * v;
  }
  float mean = (sum[0] + sum[1] + (sum[2] + sum[3])) / C;
  y[r] = (squares[0] + squares[1] + (squares[2] + squares[3])) / C - mean * mean;
}
)cuda";
// Leaves the last column out.
constexpr const char* kOneMissing = R"cuda(
__global__ void k(const float* x, float* y, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float sum = 0.0f, squares = 0.0f;
  for (int c = 0; c < C - 1; ++c) {
    float v = x[r * C + c];
    sum += v;
    squares += v * v;
  }
  float mean = sum / C;
  y[r] = squares / C - mean * mean;
}
)cuda";

constexpr const char* kManifest = R"yaml(
sizes: {R: 1000, C: 1024}
args: {x: {shape: [R, C], init: "uniform(1000,1001)"}, y: {dir: out, shape: [R]}}
launch: {block: 64, grid: "cdiv(R, bx)"}
tests: [{R: 40, C: 200}, {R: 33, C: 64}]
)yaml";

class Conditioning : public testing::Test {
 protected:
  Verifier verifier(const Problem& problem, const std::string& source, bool looks) {
    VerifierConfiguration configuration;
    configuration.make_double_shadow = [&, source](const Cancellation& stop) {
      return verify::make_double_shadow(compiler_, problem, source, "sm_90", stop);
    };
    if (looks) {
      configuration.make_uncontracted = [&, source](const Cancellation& stop) {
        return verify::make_uncontracted(compiler_, problem, source, "sm_90", stop);
      };
    }
    return Verifier(problem, test::compiled(source), configuration);
  }
  static Problem problem_of(const std::string& manifest) {
    return test::problem_of(manifest, {test::pointer("x", true), test::pointer("y", false),
                                       test::scalar("R"), test::scalar("C")});
  }
  static VerificationResult judge(Verifier& verifier, const Problem& problem, const char* source) {
    return verifier.verify(test::compiled(source), problem.launch, test::kSeed, kNever);
  }

  Compiler compiler_{test::real_configuration()};
};

TEST_F(Conditioning, InputsThatLeaveNothingButRoundingAreLeftOut) {
  const Problem problem = problem_of(kManifest);
  // What happened without: an honest kernel is refused.
  Verifier strict(problem, test::compiled(kVariance));
  EXPECT_EQ(judge(strict, problem, kFourSums).verdict, Verdict::wrong_result);
  Verifier lenient = verifier(problem, kVariance, true);
  const auto warnings = lenient.check_original(test::kSeed, kNever);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ASSERT_EQ(warnings->size(), 1U);
  EXPECT_NE(warnings->front().find("the manifest's inputs"), std::string::npos);
  EXPECT_NE(warnings->front().find("ill-conditioned"), std::string::npos);
  EXPECT_NE(warnings->front().find("at 2 of 2 test sizes"), std::string::npos);
  const VerificationResult honest = judge(lenient, problem, kFourSums);
  EXPECT_TRUE(honest.correct()) << honest.message;
  EXPECT_EQ(judge(lenient, problem, kOneMissing).verdict, Verdict::wrong_result);
}

TEST_F(Conditioning, WellConditionedInputsAreAllCompared) {
  std::string manifest = kManifest;
  manifest.replace(manifest.find("uniform(1000,1001)"), 18, "uniform(-2,1)");
  const Problem problem = problem_of(manifest);
  Verifier lenient = verifier(problem, kVariance, true);
  const auto warnings = lenient.check_original(test::kSeed, kNever);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  EXPECT_TRUE(warnings->empty()) << warnings->front();
}

TEST_F(Conditioning, AnOriginalThatIsNothingButRoundingCannotBeAReference) {
  // What a product loses by being rounded, whatever the inputs.
  constexpr const char* kRounding = R"cuda(
__global__ void k(const float* x, float* y, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float v = 1.37f + x[r * C] * 0.711f, same = v;
  asm volatile("" : "+f"(same));
  float square = -__fmul_rn(same, same);
  asm volatile("" : "+f"(square));
  y[r] = v * v + square;
}
)cuda";
  const Problem problem = problem_of(kManifest);
  Verifier lenient = verifier(problem, kRounding, true);
  const auto warnings = lenient.check_original(test::kSeed, kNever);
  ASSERT_FALSE(warnings.ok());
  EXPECT_NE(warnings.error().message.find("whatever the inputs"), std::string::npos)
      << warnings.error().message;
}

TEST_F(Conditioning, ThereIsNothingToLookAtWithoutProductsAndSums) {
  const Problem problem = problem_of(kManifest);
  const auto made = verify::make_uncontracted(
      compiler_, problem,
      "__global__ void k(const float* x, float* y, int R, int C) {\n"
      "  int r = blockIdx.x * blockDim.x + threadIdx.x;\n  if (r < R) y[r] = x[r * C];\n}\n",
      "sm_90", kNever);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::unsupported);
}

}  // namespace
}  // namespace regraph::conditioning_test
