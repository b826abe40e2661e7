// Blocks whose threads are elements of a row, as one thread.
#include "rewrite/transform/thread_serialisation.h"

#include "rewrite/step_checks.h"

namespace regraph::test::thread_serialisation_test {
namespace {

std::unique_ptr<KernelCase> block_of(const std::string& body, const std::string& block = "16",
                                     const std::string& assume =
                                         "{noalias: true, reassociate: "
                                         "true}") {
  auto made = KernelCase::make(
      "__global__ void f(const float* x, const float* w, float* y, float* z, int n) {\n"
      "  __shared__ float s[32];\n  int d = threadIdx.x;\n" +
          body + "\n}",
      "sizes: {rows: 300, n: 64}\nargs: {x: {dir: in, shape: [rows, " + block +
          "], init: normal}, w: {dir: in, shape: [n, " + block +
          "], init: normal}, y: {dir: out, shape: [rows, " + block +
          "]}, z: {dir: out, shape: [rows]}}\nlaunch: {block: " + block +
          ", grid: rows}\ntests: [{rows: 37, n: 9}, {rows: 64, n: 5}, {rows: 1, n: 1}]\nassume: " +
          assume + "\n");
  EXPECT_TRUE(made.ok()) << (made.ok() ? "" : made.error().message) << body;
  return made.ok() ? std::move(*made) : nullptr;
}

std::string serialised(const KernelCase& kernel) {
  const rewrite::KernelState original = kernel.original();
  const rewrite::KernelAnalysis analysis = kernel.analysis(original);
  const auto state = rewrite::serialise_threads(analysis);
  EXPECT_TRUE(state.ok()) << (state.ok() ? "" : state.error().message);
  if (!state.ok()) return "";
  EXPECT_EQ(kernel.verdict(*state), "correct") << source::print(state->unit);
  return source::print(state->unit);
}

void expect_obstacle(const std::string& body, const std::string& reason,
                     const std::string& block = "16") {
  const auto kernel = block_of(body, block);
  ASSERT_NE(kernel, nullptr);
  const rewrite::KernelState original = kernel->original();
  const rewrite::KernelAnalysis analysis = kernel->analysis(original);
  const auto state = rewrite::serialise_threads(analysis);
  ASSERT_FALSE(state.ok()) << source::print(state->unit);
  EXPECT_NE(state.error().message.find(reason), std::string::npos) << state.error().message;
}

constexpr const char* kTree =
    "__syncthreads(); for (int k = 8; k > 0; k /= 2) { if (d < k) s[d] += s[d + k]; "
    "__syncthreads(); } ";

TEST(ThreadSerialisation, KeepWhatEachThreadHas) {
  const auto kernel = block_of(
      "float q = x[blockIdx.x * 16 + d]; float mix = 0.0f; float all = 0.0f;\n"
      "for (int t = 0; t < n; ++t) { s[d] = q * w[t * 16 + d]; " +
      std::string(kTree) +
      "float score = s[0]; float v = w[t * 16 + d]; mix += score * v; all += score;\n"
      "if (d % 2 == 0) { float half = mix * 0.5f; mix = half; } __syncthreads(); }\n"
      "y[blockIdx.x * 16 + d] = mix; if (threadIdx.x == 0) z[blockIdx.x] = all;");
  ASSERT_NE(kernel, nullptr);
  const std::string code = serialised(*kernel);
  EXPECT_NE(code.find("float q[16];"), std::string::npos) << code;
  EXPECT_NE(code.find("float mix[16];"), std::string::npos) << code;
  EXPECT_NE(code.find("float all ="), std::string::npos) << code;
  // What is read in the loop is read where it is used.
  EXPECT_EQ(code.find("float v["), std::string::npos) << code;
  EXPECT_EQ(code.find("__syncthreads"), std::string::npos) << code;
}

TEST(ThreadSerialisation, TakeTreesOfAnyOperation) {
  for (const char* update : {"s[d] = fmaxf(s[d], s[d + k])", "s[d] *= s[d + k]"}) {
    const auto kernel = block_of(
        "s[d] = x[blockIdx.x * 16 + d]; __syncthreads(); for (int k = 8; k > 0; k /= 2) { "
        "if (d < k) " +
        std::string(update) +
        "; __syncthreads(); } float top = s[0]; __syncthreads();\n"
        "y[blockIdx.x * 16 + d] = x[blockIdx.x * 16 + d] - top; if (d == 0) z[blockIdx.x] "
        "= top + w[0];");
    ASSERT_NE(kernel, nullptr);
    serialised(*kernel);
  }
}

TEST(ThreadSerialisation, RefuseWhatIsMoreThanTrees) {
  const std::string store = "s[d] = x[blockIdx.x * 16 + d]; ";
  const std::string end = "y[blockIdx.x * 16 + d] = s[0]; z[blockIdx.x] = s[0];";
  expect_obstacle(
      "y[blockIdx.x * 16 + d] = x[blockIdx.x * 16 + d]; if (d == 0) z[blockIdx.x] = w[0];",
      "no tree puts together");
  // An element of another thread, a tree of part of the block, threads that share in another way.
  expect_obstacle(store + "__syncthreads(); y[blockIdx.x * 16 + d] = s[15 - d]; z[blockIdx.x] = 0;",
                  "");
  expect_obstacle(store + kTree + "y[blockIdx.x * 16 + d] = s[d]; z[blockIdx.x] = s[0];", "");
  expect_obstacle("s[d + 1] = x[blockIdx.x * 16 + d]; " + std::string(kTree) + end,
                  "'s' is used for more than a tree's result");
  expect_obstacle(store + kTree +
                      "float own[2]; own[0] = d; own[1] = s[0]; y[blockIdx.x * 16 + d] "
                      "= own[0]; z[blockIdx.x] = own[1];",
                  "which is more than a number");
}

TEST(ThreadSerialisation, NeedLeaveToAddInAnotherOrder) {
  const auto kernel = block_of("s[d] = x[blockIdx.x * 16 + d]; " + std::string(kTree) +
                                   "y[blockIdx.x * 16 + d] = s[0]; z[blockIdx.x] = w[0];",
                               "16", "{noalias: true, reassociate: false}");
  ASSERT_NE(kernel, nullptr);
  const rewrite::KernelState original = kernel->original();
  const auto state = rewrite::serialise_threads(kernel->analysis(original));
  ASSERT_FALSE(state.ok());
  EXPECT_NE(state.error().message.find("reassociate"), std::string::npos) << state.error().message;
}

}  // namespace
}  // namespace regraph::test::thread_serialisation_test
