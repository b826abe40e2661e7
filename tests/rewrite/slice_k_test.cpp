// Slices of a block that share the strips of a tiled loop.
#include "rewrite/step_checks.h"

namespace regraph::test::slice_k_test {
namespace {

// A block of 8 x 4 threads multiplies strips of 8 columns with a vector; what stands around the
// loop, and in it, is the test's.
struct Strips {
  std::string before = "float sum = 0.0f;";
  std::string guard = "row < M && k0 + x < K";
  std::string use = "for (int k = 0; k < 8; ++k) sum += tile[y][k] * (k0 + k + x);";
  std::string after = "if (row < M) out[row * 8 + x] = sum;";
  std::string assume = "{noalias: true, reassociate: true}";
};

Result<std::unique_ptr<KernelCase>> kernel_of(const Strips& strips) {
  return KernelCase::make(
      "__global__ void f(const float* a, float* out, int M, int K) {\n"
      "  __shared__ float tile[4][8];\n"
      "  int x = threadIdx.x;\n  int y = threadIdx.y;\n  int row = blockIdx.x * 4 + y;\n  " +
          strips.before +
          "\n  for (int k0 = 0; k0 < K; k0 += 8) {\n    tile[y][x] = " + strips.guard +
          " ? a[row * K + k0 + x] : 0.0f;\n"
          "    __syncthreads();\n    " +
          strips.use + "\n    __syncthreads();\n  }\n  " + strips.after + "\n}",
      "sizes: {M: 64, K: 512}\nargs: {a: {dir: in, shape: [M, K]}, out: {dir: inout, shape: [M, "
      "8]}}\n"
      "launch: {block: [8, 4], grid: ['cdiv(M, 4)']}\nassume: " +
          strips.assume + "\ntests: [{M: 5, K: 64}, {M: 9, K: 37}, {M: 4, K: 8}, {M: 1, K: 1}]\n");
}

Application slices(const char* count) {
  return {"slice_k", {{"slices", count}}};
}

rewrite::KernelState expect_slices(const Strips& strips, const char* count = "4") {
  auto kernel = kernel_of(strips);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  if (!kernel) return {};
  return expect_correct(**kernel, {slices(count)});
}

void expect_whole(const Strips& strips, const std::string& reason) {
  auto kernel = kernel_of(strips);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, slices("4"), reason);
}

TEST(SliceK, DealsStripsOut) {
  for (const char* count : {"2", "4", "8"}) {
    const auto state = expect_slices({}, count);
    EXPECT_EQ(std::to_string(state.plan.launches[0].block.z), count);
  }
}

TEST(SliceK, KeepsWhatTheSumStartsWith) {
  expect_slices({.before = "float sum = row < M ? out[row * 8 + x] : 0.0f;"});
  expect_slices({.before = "float sum = 3.0f;"});
}

TEST(SliceK, CombinesArraysElementByElement) {
  const std::string use =
      "for (int j = 0; j < 3; ++j) for (int k = 0; k < 8; ++k) sum[j] += tile[y][k] * (k + j);";
  const std::string after = "if (row < M) out[row * 8 + x] = sum[0] + sum[1] * sum[2];";
  expect_slices({.before = "float sum[3];\n for (int j = 0; j < 3; ++j) sum[j] = 0.0f;",
                 .use = use,
                 .after = after});
  expect_slices({.before = "float sum[3];\n for (int j = 0; j < 3; ++j) sum[j] = j;",
                 .use = use,
                 .after = after});
  // Rows that are too long to be handed over at once.
  expect_slices({.before = "float sum[12];\n for (int j = 0; j < 12; ++j) sum[j] = 1.0f;",
                 .use = "for (int j = 0; j < 12; ++j) sum[j] += tile[y][j % 8];",
                 .after = "if (row < M) out[row * 8 + x] = sum[0] + sum[11];"});
}

TEST(SliceK, TakesOtherOperations) {
  expect_slices({.before = "float sum = -1000.0f;",
                 .use = "for (int k = 0; k < 8; ++k) sum = fmaxf(sum, tile[y][k]);"});
  expect_slices({.before = "float sum = 0.0f;\n int positive = 0;",
                 .use = "for (int k = 0; k < 8; ++k) { sum += tile[y][k]; "
                        "if (tile[y][k] > 0.5f) positive += 1; }",
                 .after = "if (row < M) out[row * 8 + x] = sum * positive;"});
}

TEST(SliceK, SeesWhatIsScaledToAMaximum) {
  const auto online = [](const std::string& scaled, const std::string& more) {
    return Strips{.before = "float m = -1e30f;\n float sum = 0.0f;\n float other = 0.0f;",
                  .use =
                      "for (int k = 0; k < 8; ++k) { const float v = tile[y][k] * (x + 1);\n"
                      "  if (v > m) { const float s = expf(m - v); " +
                      scaled +
                      " }\n  m = fmaxf(m, v);\n  const float w = expf(v - m);\n  sum += w;\n"
                      "  other += 2.0f * w;\n " +
                      more + " }",
                  .after = "if (row < M) out[row * 8 + x] = sum + 3.0f * other + m;"};
  };
  const std::string both = "sum *= s; other *= s;";
  expect_slices(online(both, ""));
  expect_slices(online(both, "if (v > 100.0f) sum += w;"));
  expect_whole(online("sum *= s;", ""), "'other' is not scaled when 'm' grows");
  expect_whole(online("sum *= s; other *= s * s;", ""), "'sum' is updated by different operations");
  expect_whole(online(both, "sum += 1.0f;"), "'sum' is read before the loop is over");
  expect_whole(online(both, "other += w * sum;"), "'sum' is read before the loop is over");
  expect_whole(online(both, "sum += w * m;"), "'m' is used otherwise than to scale sums");
  expect_whole(online(both, "m = fmaxf(m, 2.0f * v);"), "'m' is used otherwise than to scale sums");
}

// Nothing may be read past the end in the rounds in which a slice has no strip.
TEST(SliceK, AsksForTheStripAlsoWhereCopiesDoNot) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* out, int K) {\n"
      "  __shared__ float tile[32];\n  float sum = 0.0f;\n"
      "  for (int k0 = 0; k0 < K; k0 += 32) {\n"
      "    tile[threadIdx.x] = a[k0 + threadIdx.x];\n    __syncthreads();\n"
      "    for (int k = 0; k < 32; ++k) sum += fabsf(tile[k]) * threadIdx.x;\n    "
      "__syncthreads();\n  }\n"
      "  out[threadIdx.x] = sum;\n}",
      "sizes: {K: 512}\nargs: {a: {dir: in, shape: [K]}, out: {dir: out, shape: [32]}}\n"
      "launch: {block: 32, grid: 1}\ntests: [{K: 32}, {K: 96}, {K: 160}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {slices("4")});
  expect_correct(**kernel, {slices("4"), {"double_buffer", {}}});
}

TEST(SliceK, LeavesTilesToAlternate) {
  auto kernel = kernel_of({});
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {slices("2"), {"double_buffer", {}}});
  expect_refusal(**kernel, expect_correct(**kernel, {{"double_buffer", {}}}), slices("2"), "");
}

TEST(SliceK, RefusesWhatStripsDependOn) {
  expect_whole({.use = "for (int k = 0; k < 8; ++k) sum = sum * 0.5f + tile[y][k];"},
               "carries a value");
  expect_whole({.use = "for (int k = 0; k < 8; ++k) { sum += tile[y][k]; "
                       "if (sum > 4.0f) sum += 1.0f; }"},
               "'sum' is read before the loop is over");
  expect_whole({.before = "float sum[2];\n int n = 0; sum[0] = 0.0f; sum[1] = 0.0f;",
                .use = "sum[n % 2] += tile[y][0]; n += 1;",
                .after = "if (row < M) out[row * 8 + x] = sum[0];"},
               "'n' is read before the loop is over");
  expect_whole({.use = "sum += tile[y][x]; if (row < M) out[row * 8 + x] = k0;", .after = ""},
               "the strips write 'out'");
  expect_whole({.assume = "{noalias: true, reassociate: false}"}, "reassociate");
}

TEST(SliceK, RefusesWhatSlicesWouldRepeat) {
  expect_whole({.before = "float sum = 0.0f;\n if (row < M) out[row * 8 + x] += 1.0f;"},
               "memory is written before the loop over strips");
  expect_whole({.before = "float sum = 0.0f;\n if (row < M) atomicAdd(&out[row * 8 + x], 1.0f);"},
               "before the loop over strips");
  expect_whole({.after = "__syncthreads();\n if (row < M) out[row * 8 + x] = sum;"},
               "a barrier follows");
}

TEST(Contraction, DealsStripsOutToSlices) {
  auto kernel = sample("matmul_guard");
  ASSERT_NE(kernel, nullptr);
  for (const char* outputs : {"8x8", "4x4"}) {
    const auto state = expect_correct(
        *kernel, {{"contraction",
                   {{"block", "16x8"}, {"outputs", outputs}, {"depth", "8"}, {"slices", "2"}}}});
    EXPECT_EQ(state.plan.launches[0].block, (Dim3{16, 8, 2}));
    EXPECT_NE(source::print(state.unit).find("buffer = 1 - buffer"), std::string::npos);
  }
}

}  // namespace
}  // namespace regraph::test::slice_k_test
