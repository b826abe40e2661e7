// What other steps make of rows in registers and of passes in one.
#include "rewrite/step_checks.h"

namespace regraph::test::attention_steps_test {
namespace {

const std::vector<Application> kFused = {{"scalar_replacement", {{"rows", "all"}}},
                                         {"online_fusion", {{"form", "online"}}}};

std::vector<Application> fused_and(std::vector<Application> more) {
  std::vector<Application> result = kFused;
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

TEST(SmemTile, StagesRowsOfConstantLength) {
  for (const char* name : {"attention_rows", "attention_pointers"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* depth : {"8", "32"}) {
      const auto state =
          expect_correct(*kernel, fused_and({{"smem_tile", {{"loop", "1"}, {"depth", depth}}}}));
      const std::string code = source::print(state.unit);
      expect_text(code, std::string("float keys_tile[") + depth + "][8];");
      expect_text(code, std::string("float values_tile[") + depth + "][8];");
    }
    const auto state = expect_correct(
        *kernel, fused_and({{"smem_tile", {{"loop", "1"}, {"depth", "8"}, {"copy", "vector"}}}}));
    const std::string code = source::print(state.unit);
    expect_text(code, "const float4 keys_vector");
    expect_text(code, "const float4 values_vector");
    expect_correct(*kernel, fused_and({{"smem_tile", {{"loop", "1"}, {"depth", "16"}}},
                                       {"double_buffer", {}}}));
  }
}

TEST(SmemTile, DropsGuardsOfRowsInRegisters) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  const auto state =
      expect_correct(*kernel, fused_and({{"smem_tile", {{"loop", "1"}, {"depth", "8"}}}}));
  const std::string code = source::print(state.unit);
  const std::size_t strip = code.find("for (int t1");
  ASSERT_NE(strip, std::string::npos) << code;
  EXPECT_GT(code.find("q < queries", strip), code.find("__syncthreads", strip)) << code;
  // What is read under the guard alone holds something elsewhere.
  expect_text(code, "query_row[element] = 0.0f;\n    if (");
}

TEST(SmemTile, LeavesLoopsOverRegisters) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  // The loop over keys is the only one: those over dimensions count elements of registers.
  expect_refusal(*kernel, expect_correct(*kernel, kFused),
                 {"smem_tile", {{"loop", "2"}, {"depth", "8"}}}, "only 1 of the kernel's loops");
}

TEST(SmemTile, StagesWhatLoopsWithStridesRead) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(
      *kernel, fused_and({{"multi_accumulator", {{"loop", "1"}, {"accumulators", "4"}}},
                          {"smem_tile", {{"loop", "1"}, {"depth", "8"}, {"copy", "vector"}}}}));
  expect_text(source::print(state.unit), "float keys_tile[8][8];");
}

TEST(SmemTile, StagesElementsThatAreLoadedThroughTheCache) {
  auto made = KernelCase::make(
      "__global__ void f(const float* A, const float* B, float* C, int n) {\n"
      "  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + "
      "threadIdx.x;\n  if (i < n && j < n) {\n    float s = 0.0f;\n"
      "    for (int k = 0; k < n; ++k) s += __ldg(&A[i * n + k]) * __ldg(&B[k * n + j]);\n"
      "    C[i * n + j] = s;\n  }\n}",
      "sizes: {n: 64}\nargs: {A: {dir: in, shape: [n, n]}, B: {dir: in, shape: [n, n]}, C: {dir: "
      "out, shape: [n, n]}}\nlaunch: {block: [16, 16], grid: ['cdiv(n, bx)', 'cdiv(n, by)']}\n"
      "tests: [{n: 37}, {n: 32}, {n: 1}]\n");
  ASSERT_TRUE(made.ok()) << made.error().message;
  const auto state = expect_correct(**made, {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}});
  EXPECT_EQ(source::print(state.unit).find("__ldg"), std::string::npos);
}

TEST(SliceK, ScalesPartsToOneMaximum) {
  for (const char* name : {"attention_rows", "attention_pointers"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* slices : {"2", "8"}) {
      const auto state = expect_correct(
          *kernel, fused_and({{"smem_tile", {{"loop", "1"}, {"depth", "8"}, {"copy", "vector"}}},
                              {"slice_k", {{"slices", slices}}}}));
      expect_text(source::print(state.unit), "_own_scale = expf(");
    }
  }
}

// With a mask, slices may have seen nothing but minus infinity, and so may all of them.
std::unique_ptr<KernelCase> masked(const std::string& score) {
  auto made = KernelCase::make(
      "__global__ void f(const float* k, const float* v, float* y, int rows, int n, int last) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < rows) {\n"
      "    float m = -INFINITY;\n"
      "    for (int t = 0; t < n; ++t) { float s = " +
          score +
          "; m = fmaxf(m, s); }\n    float sum = 0.0f;\n    float mix = 0.0f;\n"
          "    for (int t = 0; t < n; ++t) {\n      float s = " +
          score +
          ";\n      float w = expf(s - m);\n      sum += w;\n      mix += w * v[t];\n"
          "    }\n    y[i * 2] = mix / sum;\n    y[i * 2 + 1] = sum;\n  }\n}",
      "sizes: {rows: 640, n: 128}\nargs: {k: {dir: in, shape: [n], init: normal}, v: {dir: in, "
      "shape: [n], init: normal}, y: {dir: out, shape: [rows, 2]}, last: 3}\n"
      "launch: {block: 32, grid: 'cdiv(rows, bx)'}\nassume: {noalias: true, reassociate: true}\n"
      "tests: [{rows: 37, n: 9}, {rows: 64, n: 40}, {rows: 1, n: 1}]\n");
  EXPECT_TRUE(made.ok()) << made.error().message;
  return made.ok() ? std::move(*made) : nullptr;
}

TEST(SliceK, TakesSlicesThatSawNothing) {
  const std::vector<Application> steps = {{"online_fusion", {{"form", "online"}}},
                                          {"smem_tile", {{"loop", "1"}, {"depth", "8"}}},
                                          {"slice_k", {{"slices", "4"}}}};
  // Thread i sees i - last + 1 values, the first ones none.
  expect_correct(*masked("t <= i - last ? k[t] * i : -INFINITY"), steps);
  expect_correct(*masked("t >= i ? k[t] * i : -INFINITY"), steps);
}

Application attention(const char* block, const char* depth, const char* slices) {
  return {"attention", {{"block", block}, {"depth", depth}, {"slices", slices}}};
}

TEST(Attention, TakesRowsInOnePassOverTiles) {
  for (const char* name : {"attention_rows", "attention_pointers"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const Application& step : {attention("64", "8", "4"), attention("128", "16", "1")}) {
      const auto state = expect_correct(*kernel, {step});
      const std::string code = source::print(state.unit);
      expect_text(code, "keys_tile[");
      expect_text(code, "values_tile[");
      expect_text(code, "_scale = expf(");
      EXPECT_EQ(state.plan.launches.front().block.x,
                step.parameters.at("block") == "64" ? 64 : 128);
    }
  }
}

TEST(Attention, GoesOnFromWhatIsOnlineAlready) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, fused_and({attention("64", "8", "2")}));
  // Sums in registers, of a block that has the size already.
  expect_correct(*masked("t <= i - last ? k[t] * i : -INFINITY"), {attention("64", "8", "4")});
}

TEST(Attention, TakesBlocksForThreads) {
  const auto kernel = sample("attention_blocks");
  ASSERT_NE(kernel, nullptr);
  for (const Application& step : {attention("64", "8", "4"), attention("128", "16", "1")}) {
    const auto state = expect_correct(*kernel, {step});
    const std::string code = source::print(state.unit);
    expect_text(code, "float q[8];");
    expect_text(code, "float mix[8];");
    expect_text(code, "keys_tile[");
    expect_text(code, "values_tile[");
    EXPECT_EQ(code.find("products["), std::string::npos) << code;
  }
}

TEST(Attention, TakesTheSoftmaxOfTextbooks) {
  const auto kernel = sample("attention_online");
  ASSERT_NE(kernel, nullptr);
  for (const Application& step : {attention("64", "8", "4"), attention("128", "16", "1")}) {
    const std::string code = source::print(expect_correct(*kernel, {step}).unit);
    expect_text(code, "> m) {");
    expect_text(code, "keys_tile[");
  }
}

TEST(Attention, RefusesWithTheStepsReason) {
  const Application step = attention("64", "8", "4");
  expect_refusal(*sample("matmul_guard"), step, "online_fusion: no loop finds the largest");
  expect_refusal(*sample("log_sum_exp"), step, "smem_tile: ");
  const auto kernel = sample("attention_rows");
  expect_refusal(*kernel, expect_correct(*kernel, {step}), step,
                 "smem_tile: the kernel uses shared memory already");
  const auto result = kernel->apply(kernel->original(), "attention",
                                    {{"block", "64"}, {"depth", "8"}, {"slices", "0"}});
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_argument);
}

TEST(MultiAccumulator, SplitsLoopsThatAreWrittenOut) {
  const auto kernel = sample("attention_rows");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(
      *kernel, fused_and({{"multi_accumulator", {{"loop", "1"}, {"accumulators", "4"}}}}));
  const std::string code = source::print(state.unit);
  expect_text(code, "float score_part[4];");
  // Registers are indexed by numbers only.
  const std::size_t loop = code.find("d2 < 8; d2 += 4");
  ASSERT_NE(loop, std::string::npos) << code;
  EXPECT_NE(code.rfind("#pragma unroll", loop), std::string::npos) << code;
  EXPECT_LT(loop - code.rfind("#pragma unroll", loop), 60u) << code;
}

// A sum that is kept once a copy in the first loop is one of each copy's own in the second, which
// is copied as a whole.
TEST(AttentionSteps, SumsOfOneNameAreKeptWhereTheyNeedToBe) {
  expect_correct(*sample("attention_pointers"),
                 {{"smem_tile", {{"copy", "vector"}, {"depth", "8"}, {"loop", "3"}}},
                  {"async_pipeline", {{"stages", "4"}}},
                  {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
}

}  // namespace
}  // namespace regraph::test::attention_steps_test
