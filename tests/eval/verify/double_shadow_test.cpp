#include "eval/verify/double_shadow.h"

#include "eval/real_compiler.h"
#include "eval/verify/double_source.h"
#include "eval/verify/verifier.h"
#include "kernel/manifest.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>

namespace regraph::verify::double_shadow_test {
namespace {

const Cancellation kNever;

Compiler& compiler() {
  static Compiler one(test::real_configuration());
  return one;
}

CompiledKernel compiled(const std::string& source) {
  CompileRequest request = test::request_for(source);
  request.want_cubin = false;
  const auto result = compiler().compile(request, kNever);
  EXPECT_TRUE(result.ok()) << result.error().message << "\n" << source;
  return result.ok() ? *result : CompiledKernel();
}

Problem problem_of(const std::string& yaml, std::vector<Parameter> parameters) {
  const auto manifest = parse_manifest(yaml, "k.yaml");
  EXPECT_TRUE(manifest.ok()) << manifest.error().message;
  auto problem = make_problem(*manifest, {"k", std::move(parameters)}, "k.cu", "");
  EXPECT_TRUE(problem.ok()) << problem.error().message;
  return *problem;
}

// A verifier for sums of C columns, with the original in double beside it or without.
class Sums {
 public:
  Sums(const std::string& original, const std::string& tests, bool shadow = true)
      : problem_(problem_of("sizes: {R: 64, C: 64}\n"
                            "args: {x: {shape: [R, C]}, y: {dir: out, shape: [R]}}\n"
                            "launch: {block: 64, grid: R}\n"
                            "tests: " +
                                tests + "\n",
                            {{"x", ScalarType::f32, true, true, 1},
                             {"y", ScalarType::f32, true, false, 1},
                             {"C", ScalarType::i32, false, false, 1}})) {
    VerifierConfiguration configuration;
    if (shadow) {
      configuration.make_double_shadow = [this, original](const Cancellation& cancellation) {
        return make_double_shadow(compiler(), problem_, original, "sm_90", cancellation);
      };
    }
    verifier_ = std::make_unique<Verifier>(problem_, compiled(original), configuration);
  }

  // How many of `seeds` seeds reject it; the last reason in `message`.
  int rejections(const std::string& source, int seeds) {
    const CompiledKernel kernel = compiled(source);
    int rejected = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const VerificationResult result =
          verifier_->verify(kernel, problem_.launch, static_cast<std::uint64_t>(seed), kNever);
      if (result.correct()) continue;
      ++rejected;
      message = result.message;
    }
    return rejected;
  }

  std::string message;

 private:
  Problem problem_;
  std::unique_ptr<Verifier> verifier_;
};

constexpr const char* kTree = R"cuda(
__global__ void k(const float* x, float* y, int C) {
  __shared__ float s[64];
  int t = threadIdx.x;
  float v = 0.0f;
  for (int c = t; c < C; c += 64) v += x[blockIdx.x * C + c];
  s[t] = v;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  if (t == 0) y[blockIdx.x] = s[0];
}
)cuda";

std::string serial(const std::string& term, const std::string& after = "") {
  return "__global__ void k(const float* x, float* y, int C) {\n"
         "  if (threadIdx.x != 0) return;\n  float sum = 0.0f;\n"
         "  for (int c = 0; c < C; ++c) sum += " +
         term + ";\n  " + after + "\n  y[blockIdx.x] = sum;\n}\n";
}
const std::string kSerial = serial("x[blockIdx.x * C + c]");
const std::string kTf32 =
    serial("__uint_as_float(__float_as_uint(x[blockIdx.x * C + c]) & 0xffffe000u)");

TEST(DoubleShadow, AnHonestSerialSumPassesAgainstATree) {
  // Few rows: now and then a sum is close to zero, and what is rounding looks large beside it.
  const std::string tests = "[{R: 1, C: 64}, {R: 2, C: 64}, {R: 3, C: 1000}]";
  constexpr int kSeeds = 60;
  Sums without(kTree, tests, false);
  const int before = without.rejections(kSerial, kSeeds);
  Sums with(kTree, tests);
  const int after = with.rejections(kSerial, kSeeds);
  std::printf("serial against tree: %d of %d seeds rejected by tolerances alone, %d with fp64\n",
              before, kSeeds, after);
  EXPECT_GT(before, 0);
  EXPECT_EQ(after, 0) << with.message;
  Sums reversed(kSerial, tests);
  EXPECT_EQ(reversed.rejections(kTree, kSeeds), 0) << reversed.message;
}

TEST(DoubleShadow, LessPrecisionIsRejectedAllTheSame) {
  const std::string tests = "[{R: 1, C: 64}, {R: 33, C: 64}, {R: 20, C: 1000}]";
  Sums sums(kTree, tests);
  EXPECT_EQ(sums.rejections(kTf32, 10), 10);
  EXPECT_EQ(sums.rejections(serial("x[blockIdx.x * C + c]", "sum *= 1.00001f;"), 10), 10);
  EXPECT_EQ(sums.rejections(serial("x[blockIdx.x * C + c]", "sum *= 1.0f;"), 10), 0);
}

// An original whose results all are off by a ten-thousandth, more than could be told from one wrong
// element of so many: what is right is told by double precision alone.
TEST(DoubleShadow, TheOriginalCanBeFarOff) {
  constexpr std::size_t kElements = 100'000;
  const Problem problem = problem_of(
      "sizes: {n: 100000}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [n]}}\n"
      "launch: {block: 256, grid: \"cdiv(n, 256)\"}\ntests: [{n: 100000}]\n",
      {{"x", ScalarType::f32, true, true, 1},
       {"y", ScalarType::f32, true, false, 1},
       {"n", ScalarType::i32, false, false, 1}});
  const auto shadow = make_double_shadow(
      compiler(), problem,
      "__global__ void k(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * 256 + threadIdx.x;\n  if (i < n) y[i] = x[i] * 3.0f;\n}\n",
      "sm_90", kNever);
  ASSERT_TRUE(shadow.ok()) << shadow.error().message;
  const auto judged = [&](float wrong_by) {
    Buffers inputs(3);
    Buffers expected(3);
    inputs[0].resize(kElements * sizeof(float));
    expected[1].resize(kElements * sizeof(float));
    for (std::size_t i = 0; i < kElements; ++i) {
      const auto value = static_cast<float>(i % 1000 + 1);
      const float result = value * 3.0f * (1.0f + wrong_by);
      std::memcpy(inputs[0].data() + 4 * i, &value, 4);
      std::memcpy(expected[1].data() + 4 * i, &result, 4);
    }
    auto outputs = exact_outputs(*shadow, problem, {{"n", kElements}}, inputs, expected,
                                 std::vector<std::vector<std::uint8_t>>(3), 1.0, 0, kNever);
    EXPECT_TRUE(outputs.ok());
    return (*outputs)[1];
  };
  const ExactOutput near = judged(1e-6f);
  EXPECT_FALSE(near.values.empty());
  EXPECT_FALSE(near.original_is_far);
  const ExactOutput far = judged(1e-4f);
  ASSERT_FALSE(far.values.empty());
  EXPECT_TRUE(far.original_is_far);
  EXPECT_LT(far.tau, 1e-6);
  float first = 0.0f;
  std::memcpy(&first, far.values.data(), sizeof(first));
  EXPECT_EQ(first, 3.0f);
  EXPECT_TRUE(judged(0.05f).values.empty());  // another program
}

TEST(DoubleShadow, SourcesAreTranslated) {
  const auto text = in_double(
      "#include <float.h>\n// a float\n__device__ float4 f(float x) { return make_float4(expf(x), "
      "1e-3f, 0x1f, 2.5F * x); } \"float\"");
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("#include <float.h>\n// a float\n__device__ double4 f(double x) { return "
                       "make_double4(exp(x), ((double)1e-3f), 0x1f, ((double)2.5F) * x); } "
                       "\"float\""),
            std::string::npos)
      << *text;
  for (const char* source :
       {"int i = __float_as_int(x);", "__half h;", "asm(\"\");", "union { float f; int i; } u;"}) {
    const auto refused = in_double(source);
    ASSERT_FALSE(refused.ok()) << *refused;
    EXPECT_EQ(refused.error().code, ErrorCode::unsupported);
  }
}

TEST(DoubleShadow, SaysNothingWhereThereIsNoCounterpart) {
  const std::string bits = serial("__uint_as_float(__float_as_uint(x[blockIdx.x * C + c]))");
  Sums sums(bits, "[{R: 33, C: 64}]");
  // The tolerances decide, as before.
  EXPECT_EQ(sums.rejections(kTree, 5), 0) << sums.message;
  EXPECT_EQ(sums.rejections(kTf32, 5), 5);
}

TEST(DoubleShadow, HasTheOriginalsValuesRoundedOnce) {
  const Problem problem = problem_of(
      "sizes: {n: 4}\nargs: {x: {shape: [n]}, y: {dir: out, shape: [2]}, a: 0.1}\n"
      "launch: {block: 1, grid: 1, smem: 16}\ntests: [{n: 4}]\n",
      {{"x", ScalarType::f32, true, true, 1},
       {"y", ScalarType::f32, true, false, 1},
       {"a", ScalarType::f32, false, false, 1}});
  const std::string source = R"cuda(
__global__ void k(const float* x, float* y, float a) {
  extern __shared__ float s[];
  for (int i = 0; i < 4; ++i) s[i] = x[i] * a;
  y[0] = s[0] + s[1] + s[2] + s[3] + 0.1f;
})cuda";
  const auto shadow = make_double_shadow(compiler(), problem, source, "sm_90", kNever);
  ASSERT_TRUE(shadow.ok()) << shadow.error().message;
  const float x[4] = {1e4f, 1.0f, -1e4f, 0.5f};
  const float expected[2] = {0.25f, 77.0f};  // the second is not written
  Buffers inputs(3);
  Buffers outputs(3);
  inputs[0].assign(reinterpret_cast<const std::byte*>(x),
                   reinterpret_cast<const std::byte*>(x + 4));
  outputs[1].assign(reinterpret_cast<const std::byte*>(expected),
                    reinterpret_cast<const std::byte*>(expected + 2));
  const auto exact = exact_outputs(*shadow, problem, {{"n", 4}}, inputs, outputs, {{}, {0, 1}, {}},
                                   4.0, 1 << 20, kNever);
  ASSERT_TRUE(exact.ok());
  ASSERT_EQ((*exact)[1].values.size(), 8u);
  float values[2];
  std::memcpy(values, (*exact)[1].values.data(), sizeof(values));
  const double a = 0.1f;
  EXPECT_EQ(values[0],
            static_cast<float>(1e4 * a + a - 1e4 * a + 0.5 * a + static_cast<double>(0.1f)));
  EXPECT_EQ(values[1], 77.0f);
  // The terms cancel, so that rounding matters more than their sum shows.
  EXPECT_GT((*exact)[1].tau, 1e-4);
}

}  // namespace
}  // namespace regraph::verify::double_shadow_test
