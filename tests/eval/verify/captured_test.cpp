// Judged on what a program launched: captured contents, buffers that overlap, structures.
#include "eval/verify/inputs.h"
#include "eval/verify/verifier_test_support.h"

#include <cstring>
#include <memory>

namespace regraph::captured_test {
namespace {

using test::compiled;
using test::kSeed;
using test::pointer;
using test::problem_of;
using test::scalar;

template <typename Value>
CapturedContent content_of(const std::vector<Value>& values) {
  std::vector<std::byte> bytes(values.size() * sizeof(Value));
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return {"", 0, std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
}

VerificationResult judge(const Problem& problem, const std::string& original,
                         const std::string& candidate) {
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto checked = verifier.check_original(kSeed, never);
  EXPECT_TRUE(checked.ok()) << checked.error().message;
  return verifier.verify(compiled(candidate), problem.launch, kSeed, never);
}

// y[i] = x[index[i]]: integers drawn at random would lead anywhere.
class Gather : public testing::Test {
 protected:
  void SetUp() override {
    problem = problem_of(
        "sizes: {n: 100}\nargs: {x: {shape: [n]}, index: {shape: [n]}, y: {dir: out, shape: [n]}}\n"
        "launch: {block: 32, grid: [\"cdiv(n, bx)\"]}\ntests: [{n: 100}]\n"
        "captured: [{sizes: {n: 100}, data: {}}]\n",
        {pointer("x", true), pointer("index", true, ScalarType::i32), pointer("y", false),
         scalar("n")});
    std::vector<std::int32_t> index(100);
    std::vector<float> x(100);
    for (int i = 0; i < 100; ++i) {
      index[static_cast<std::size_t>(i)] = (37 * i) % 100;
      x[static_cast<std::size_t>(i)] = 0.5f + static_cast<float>(i);
    }
    problem.captured[0].contents = {{"index", content_of(index)}, {"x", content_of(x)}};
  }
  static std::string kernel(const std::string& value) {
    return "__global__ void k(const float* x, const int* index, float* y, int n) {\n"
           "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = " +
           value + ";\n}\n";
  }
  Problem problem;
};

TEST_F(Gather, IndicesStayAndValuesChange) {
  EXPECT_TRUE(judge(problem, kernel("x[index[i]]"), kernel("x[index[i]]")).correct());
  const auto wrong = judge(problem, kernel("x[index[i]]"), kernel("x[(36 * i) % 100]"));
  EXPECT_EQ(wrong.verdict, Verdict::wrong_result) << wrong.message;
}

// A candidate that knows the captured result, or the captured indices, is found out.
TEST_F(Gather, KnowingTheDataIsNotEnough) {
  const auto constants =
      judge(problem, kernel("x[index[i]]"), kernel("0.5f + (float)((37 * i) % 100)"));
  EXPECT_EQ(constants.verdict, Verdict::wrong_result) << constants.message;
  const auto indices = judge(problem, kernel("x[index[i]]"), kernel("x[(37 * i) % 100]"));
  EXPECT_EQ(indices.verdict, Verdict::wrong_result) << indices.message;
  EXPECT_NE(indices.message.find("exchanged"), std::string::npos) << indices.message;
}

TEST_F(Gather, MessagesTellNothingOfTheData) {
  const auto wrong = judge(problem, kernel("x[index[i]]"), kernel("x[index[i]] + 1.0f"));
  EXPECT_EQ(wrong.verdict, Verdict::wrong_result);
  EXPECT_NE(wrong.message.find("is not what it should be"), std::string::npos) << wrong.message;
  for (const char* value : {"0.5", "1.5", "37.5", "38.5"})
    EXPECT_EQ(wrong.message.find(value), std::string::npos) << wrong.message;
}

TEST_F(Gather, OtherInputsAreLeftOutWhereTheOriginalFails) {
  // Exchanged or not, indices are valid; what they are multiplied with is not always.
  const std::string original = kernel("x[index[i] * (x[i] > 0.4f ? 1 : 1000000)]");
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  bool told = false;
  for (const std::string& warning : *warnings)
    told = told || warning.find("left out") != std::string::npos;
  EXPECT_TRUE(told);
  EXPECT_TRUE(verifier.verify(compiled(original), problem.launch, kSeed, never).correct());
}

// Sizes that the program never had may break what its kernel takes for granted.
TEST_F(Gather, OtherSizesAreLeftOutWhereTheOriginalRaces) {
  const std::string original =
      "__global__ void k(const float* x, const int* index, float* y, int n) {\n"
      "  __shared__ float part[32];\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (n % 4 == 0) part[threadIdx.x] = x[i % n]; else part[0] = x[i % n] + i;\n"
      "  __syncthreads();\n  if (i < n) y[i] = part[n % 4 == 0 ? threadIdx.x : 0];\n}\n";
  problem.tests.push_back({{"n", 35}});
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ASSERT_FALSE(warnings->empty());
  EXPECT_NE(warnings->back().find("left out"), std::string::npos) << warnings->back();
  const auto same = verifier.verify(compiled(original), problem.launch, kSeed, never);
  EXPECT_TRUE(same.correct()) << same.message;
}

// Kernels with a size compiled in may do nothing at another.
TEST_F(Gather, SizesWhereNothingIsWrittenAreNoTests) {
  const std::string original =
      "__global__ void k(const float* x, const int* index, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (n == 100 && i < n) y[i] = x[index[i]];\n}\n";
  problem.tests = {{{"n", 35}}};
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  ASSERT_EQ(warnings->size(), 1U);
  EXPECT_NE(warnings->front().find("no test size is left"), std::string::npos);
  problem.is_captured = false;
  Verifier asked(problem, compiled(original));
  EXPECT_FALSE(asked.check_original(kSeed, never).ok());
}

// What is timed on a GPU is compared at the bench size then.
TEST_F(Gather, WithoutATestTheScaleIsTheBenchSizes) {
  const std::string original =
      "__global__ void k(const float* x, const int* index, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[n == 100 ? i : 1000000] = x[index[i]];\n}\n";
  problem.tests = {{{"n", 35}}};
  Verifier verifier(problem, compiled(original));
  const Cancellation never;
  const auto warnings = verifier.check_original(kSeed, never);
  ASSERT_TRUE(warnings.ok()) << warnings.error().message;
  const auto scale = verifier.largest_test(kSeed, never);
  ASSERT_TRUE(scale.ok()) << scale.error().message;
  EXPECT_EQ(scale->symbols, problem.bench.front());
  EXPECT_GE(scale->arithmetic.reduction_length, 1.0);
}

constexpr const char* kShift =
    "__global__ void k(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i == 0) for (int j = 1; j < n; ++j) y[j] = x[j - 1] + 1.0f;\n}\n";
// The same if the buffers do not overlap.
constexpr const char* kShiftAhead =
    "__global__ void k(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i == 0) for (int j = n - 1; j >= 1; --j) y[j] = x[j - 1] + 1.0f;\n}\n";

TEST(Overlap, IsAsTheProgramHasIt) {
  const std::string rest = "launch: {block: 32, grid: 1}\nsizes: {n: 64}\ntests: [{n: 64}]\n";
  const std::vector<Parameter> parameters = {pointer("x", true), pointer("y", false), scalar("n")};
  const Problem apart =
      problem_of(rest + "args: {x: {shape: [n]}, y: {dir: inout, shape: [n]}}\n", parameters);
  EXPECT_TRUE(judge(apart, kShift, kShiftAhead).correct());
  const Problem together = problem_of(
      rest + "args: {x: {shape: [n]}, y: {dir: inout, shape: [n], overlap: [x, 0]}}\n", parameters);
  EXPECT_FALSE(together.assume.noalias);
  EXPECT_EQ(together.arguments[0].direction, Direction::inout);
  EXPECT_TRUE(judge(together, kShift, kShift).correct());
  EXPECT_EQ(judge(together, kShift, kShiftAhead).verdict, Verdict::wrong_result);
}

TEST(Overlap, BeginsWhereTheManifestSays) {
  const Problem problem = problem_of(
      "launch: {block: 64, grid: 1}\nsizes: {n: 64}\ntests: [{n: 64}]\n"
      "args: {x: {dir: inout, shape: [2 * n]}, y: {dir: out, shape: [n], overlap: [x, 4 * n]}}\n",
      {pointer("x", false), pointer("y", false), scalar("n")});
  const auto kernel = [](const char* target) {
    return std::string("__global__ void k(float* x, float* y, int n) { ") + target +
           " = 2.0f * x[threadIdx.x]; }\n";
  };
  EXPECT_TRUE(judge(problem, kernel("y[threadIdx.x]"), kernel("x[n + threadIdx.x]")).correct());
  EXPECT_FALSE(judge(problem, kernel("y[threadIdx.x]"), kernel("x[threadIdx.x]")).correct());
}

// struct { float* data; int n; float factor; } by value.
constexpr const char* kRecordHead =
    "struct Part { float* data; int n; float factor; };\n"
    "__global__ void k(Part p, float* y) {\n  int i = threadIdx.x;\n";

Problem problem_with_record() {
  Parameter record = scalar("p", ScalarType::u8);
  record.record_bytes = 16;
  Parameter data = pointer("p.data", false);
  data.inside = "p";
  return problem_of(
      // n = 20, factor = 2
      "args: {p: {bytes: \"0000000000000000 14000000 00000040\"}, p.data: {dir: in, shape: [20]}, "
      "y: {dir: out, shape: [20]}}\nlaunch: {block: 32, grid: 1}\ntests: [{}]\n",
      {record, pointer("y", false), data});
}

TEST(Records, ArePassedWithThePointersInThem) {
  const std::string original =
      std::string(kRecordHead) + "  if (i < p.n) y[i] = p.data[i] * p.factor;\n}\n";
  const std::string right =
      std::string(kRecordHead) + "  if (i < p.n) y[i] = p.data[i] + p.data[i];\n}\n";
  const std::string wrong =
      std::string(kRecordHead) + "  if (i < p.n) y[i] = p.data[i] * 3.0f;\n}\n";
  EXPECT_TRUE(judge(problem_with_record(), original, right).correct());
  EXPECT_EQ(judge(problem_with_record(), original, wrong).verdict, Verdict::wrong_result);
}

// struct { float x; int kind; } behind a pointer: floats may round, integers may not.
TEST(Records, FieldsAreComparedAsTheirTypesAsk) {
  Parameter particles = pointer("p", false, ScalarType::u8);
  particles.components = particles.record_bytes = 8;
  particles.fields = {{"x", 0, ScalarType::f32}, {"kind", 4, ScalarType::i32}};
  const Problem problem = problem_of(
      "args: {p: {dir: inout, shape: [100]}}\nlaunch: {block: 128, grid: 1}\ntests: [{}]\n",
      {particles});
  const auto kernel = [](const std::string& body) {
    return "struct Particle { float x; int kind; };\n__global__ void k(Particle* p) {\n  int i = "
           "threadIdx.x;\n  if (i < 100) { " +
           body + " }\n}\n";
  };
  const std::string original = kernel("p[i].x = p[i].x / 3.0f; p[i].kind += 1;");
  EXPECT_TRUE(judge(problem, original, kernel("p[i].kind += 1; p[i].x *= 1.0f / 3.0f;")).correct());
  EXPECT_EQ(judge(problem, original, kernel("p[i].x = p[i].x / 3.0f; p[i].kind += 2;")).verdict,
            Verdict::wrong_result);
  EXPECT_EQ(judge(problem, original, kernel("p[i].x = p[i].x / 3.01f; p[i].kind += 1;")).verdict,
            Verdict::wrong_result);
}

TEST(Null, StaysNull) {
  const Problem problem = problem_of(
      "args: {x: {is_null: true}, y: {dir: out, shape: [32]}}\nlaunch: {block: 32, grid: 1}\n"
      "tests: [{}]\n",
      {pointer("x", true), pointer("y", false)});
  const std::string original =
      "__global__ void k(const float* x, float* y) { y[threadIdx.x] = x ? x[0] : 4.0f; }\n";
  const auto same = judge(problem, original, original);
  EXPECT_TRUE(same.correct()) << same.message;
}

}  // namespace
}  // namespace regraph::captured_test
