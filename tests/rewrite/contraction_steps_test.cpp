// Steps for contractions in tiles: all levels at once, vectors, two tiles in turn.
#include "rewrite/step_checks.h"

namespace regraph::test::contraction_steps_test {
namespace {

// Sizes at which tiles of 64 and 128 are whole, and end in the middle, with strips that are whole
// and not.
Result<std::unique_ptr<KernelCase>> product(const std::string& parameters = "int M, int N, int K") {
  return KernelCase::make(
      "__global__ void sgemm(const float* A, const float* B, float* C, " + parameters +
          ") {\n"
          "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
          "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
          "  if (row < M && col < N) {\n"
          "    float sum = 0.0f;\n"
          "    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
          "    C[row * N + col] = sum;\n  }\n}",
      "sizes: {M: 512, N: 512, K: 512}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: out, shape: [M, "
      "N]}}\n"
      "launch: {block: [16, 16], grid: ['cdiv(N, bx)', 'cdiv(M, by)']}\n"
      "tests: [{M: 130, N: 130, K: 48}, {M: 130, N: 130, K: 45}, {M: 128, N: 132, K: 32},\n"
      "  {M: 37, N: 64, K: 16}, {M: 1, N: 1, K: 1}]\n");
}

Application contraction(const char* block, const char* outputs, const char* depth) {
  return {"contraction", {{"block", block}, {"outputs", outputs}, {"depth", depth}}};
}

int count(const std::string& text, const std::string& what) {
  int found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

TEST(Contraction, TilesAtAllLevels) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const Application& step :
       {contraction("16x16", "8x8", "16"), contraction("16x8", "8x8", "16"),
        contraction("8x8", "8x8", "16"), contraction("16x8", "4x4", "32")}) {
    SCOPED_TRACE(step.parameters.at("block") + ' ' + step.parameters.at("outputs"));
    const auto state = expect_correct(**kernel, {step});
    const std::string text = source::print(state.unit);
    EXPECT_NE(text.find("float4"), std::string::npos) << text;
    EXPECT_NE(text.find("buffer = 1 - buffer"), std::string::npos) << text;
    // One before the loop, one a strip.
    EXPECT_EQ(count(text, "__syncthreads()"), 2) << text;
  }
  const auto state = expect_correct(**kernel, {contraction("16x16", "8x8", "8")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{16, 16, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(N, 8 * bx)");
}

// Products that a tile holds as a whole, written out, with a flat index.
TEST(Contraction, TakesSeveralProductsABlock) {
  const auto kernel = sample("unrolled_products");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {contraction("8x2x16", "1x4", "8")});
  const Launch& launch = state.plan.launches[0];
  EXPECT_EQ(launch.block, (Dim3{8, 2, 16}));
  EXPECT_EQ(launch.grid[2].text(), "cdiv(batch, bz)");
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("B_tile[16][8][8]"), std::string::npos) << text;
  EXPECT_NE(text.find("float4"), std::string::npos) << text;
  for (const char* block : {"16", "16x", "x4", "16x4x8x2", "16x0"}) {
    const auto refused =
        kernel->apply(kernel->original(), "contraction", contraction(block, "1x4", "8").parameters);
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.error().message, "'block' and 'outputs' are written as 16x16") << block;
  }
}

TEST(Contraction, TakesOtherFormsOfProducts) {
  for (const char* name : {"matmul_swapped_axes", "matmul_transposed_operand", "distance_matrix",
                           "max_plus_product", "batched_product"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel, {contraction("16x16", "4x4", "16")});
  }
}

Application kept(const char* block, const char* outputs, const char* depth, const char* slices) {
  Application step = contraction(block, outputs, depth);
  step.parameters["stages"] = "3";
  step.parameters["tiles"] = "kept";
  if (slices != nullptr) step.parameters["slices"] = slices;
  return step;
}

TEST(Contraction, KeepsTheLayoutOfTiles) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(**kernel, {kept("8x8", "4x8", "16", "4")});
  const std::string text = source::print(state.unit);
  // Rows of 16 elements and a vector more, a block apart for a thread; columns are neighbours.
  EXPECT_EQ(state.plan.launches[0].dynamic_shared_bytes.text(),
            std::to_string(3 * 4 * (64 * 20 + 16 * 32) * 4));
  EXPECT_NE(text.find("((int)threadIdx.y + cy * 8) * 20 + k1]"), std::string::npos) << text;
  EXPECT_NE(text.find("(int)threadIdx.x * 4 + cx"), std::string::npos) << text;
  EXPECT_EQ(text.find(", 4);"), std::string::npos) << text;
  // Before the loop and in it, each operand asks once whether it may be copied by vectors; elements
  // have loops of their own.
  EXPECT_EQ(count(text, "K % 4 == 0"), 2) << text;
  EXPECT_EQ(count(text, "#pragma unroll 1\n"), 4) << text;
  expect_correct(**kernel, {kept("8x8", "4x8", "32", nullptr)});
  // One strip of all slices is more than static arrays can hold.
  const auto deep = expect_correct(**kernel, {kept("8x8", "4x8", "32", "4")});
  EXPECT_EQ(deep.plan.launches[0].dynamic_shared_bytes.text(),
            std::to_string(3 * 4 * (64 * 36 + 32 * 32) * 4));
  expect_refusal(**kernel, kept("8x8", "4x8", "32", "8"), "a block has 232448 at most");
  expect_correct(**kernel, {kept("16x8", "4x4", "8", "2")});
  expect_correct(**kernel, {kept("8x8", "2x3", "4", nullptr)});
  for (const char* name : {"matmul_swapped_axes", "matmul_transposed_operand", "distance_matrix",
                           "max_plus_product", "batched_product"}) {
    SCOPED_TRACE(name);
    const auto other = sample(name);
    ASSERT_NE(other, nullptr);
    expect_correct(*other, {kept("8x8", "4x8", "16", nullptr)});
  }
  const auto wrong =
      (*kernel)->apply((*kernel)->original(), "contraction",
                       {{"block", "16x16"}, {"outputs", "4x4"}, {"depth", "8"}, {"tiles", "left"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument) << wrong.error().message;
}

// What is unsigned, and may be negative, guards nothing that a tile could be filled by.
TEST(Contraction, ReadsSizesWithoutSigns) {
  auto kernel = product("unsigned M, unsigned N, unsigned K");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {contraction("16x16", "4x4", "16")});
}

TEST(Contraction, RefusesWithTheReasonOfItsMember) {
  const Application step = contraction("16x16", "8x8", "16");
  expect_refusal(*sample("saxpy_return"), step, "smem_tile: ");
  expect_refusal(*sample("sum_sequential_tree"), step,
                 "untile: 's' is changed behind where it is filled");
  const auto kernel = sample("matmul_guard");
  for (const char* shape : {"16", "x16", "16x", "0x8", "16x8x2", "8 x8"}) {
    const auto result = kernel->apply(kernel->original(), "contraction",
                                      {{"block", "16x16"}, {"outputs", shape}, {"depth", "8"}});
    ASSERT_FALSE(result.ok()) << shape;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << result.error().message;
  }
}

TEST(SmemTile, TakesNumbersApartIntoDigits) {
  const auto kernel = sample("product_of_digits");
  ASSERT_NE(kernel, nullptr);
  for (const char* depth : {"8", "16"}) {
    const auto state = expect_correct(*kernel, {{"smem_tile", {{"depth", depth}, {"loop", "1"}}}});
    EXPECT_NE(source::print(state.unit).find("A_tile[16][" + std::string(depth) + "]"),
              std::string::npos)
        << source::print(state.unit);
  }
  expect_correct(*kernel, {{"smem_tile", {{"depth", "16"}, {"loop", "1"}, {"copy", "vector"}}}});
}

TEST(SmemTileVectors, FillTilesWhereRowsSuit) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const Application tile = {"smem_tile", {{"loop", "1"}, {"depth", "16"}, {"copy", "vector"}}};
  const auto state = expect_correct(**kernel, {tile});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("const float4"), std::string::npos) << text;
  EXPECT_NE(text.find("K % 4 == 0"), std::string::npos) << text;
  EXPECT_NE(text.find("N % 4 == 0"), std::string::npos) << text;
  expect_correct(**kernel,
                 {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}, {"order", "grouped"}}},
                  {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}, {"order", "grouped"}}},
                  tile});
}

TEST(SmemTileVectors, KeepTheLayoutOfMemory) {
  auto kernel = product();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const auto& [depth, row] :
       {std::pair("16", "20"), std::pair("4", "4"), std::pair("12", "12"), std::pair("8", "12"),
        std::pair("32", "36")}) {
    const Application tile = {"smem_tile", {{"loop", "1"}, {"depth", depth}, {"copy", "kept"}}};
    const std::string text = source::print(
        expect_correct(**kernel,
                       {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}},
                        {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}, {"order", "grouped"}}},
                        tile})
            .unit);
    // An odd number of vectors a row where threads read several rows.
    EXPECT_NE(text.find("A_tile[64][" + std::string(row) + "]"), std::string::npos) << text;
    EXPECT_NE(text.find("B_tile[" + std::string(depth) + "][64]"), std::string::npos) << text;
  }
  const auto wrong = (*kernel)->apply((*kernel)->original(), "smem_tile",
                                      {{"loop", "1"}, {"depth", "8"}, {"copy", "moved"}});
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::invalid_argument);
}

TEST(DoubleBuffer, LoadsTheNextStripBeforeTheCurrentOneIsUsed) {
  const auto kernel = sample("tiled_product");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {{"double_buffer", {}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("As[2][16][16]"), std::string::npos) << text;
  EXPECT_NE(text.find("buffer = 1 - buffer"), std::string::npos) << text;
  EXPECT_EQ(count(text, "__syncthreads()"), 2) << text;
  const std::size_t loop = text.find("for (int t = 0");
  ASSERT_NE(loop, std::string::npos) << text;
  const std::size_t loads = text.find("As_next", loop);
  const std::size_t use = text.find("sum +=", loop);
  const std::size_t stores = text.find("As[1 - buffer]", loop);
  EXPECT_LT(loads, use) << text;
  EXPECT_LT(use, stores) << text;
  expect_refusal(*kernel, state, {"double_buffer", {}},
                 "not of the shape copy, barrier, use, barrier");
}

TEST(DoubleBuffer, FollowsSmemTile) {
  for (const char* name :
       {"matmul_guard", "matmul_return_macro", "max_plus_product", "triangular_product"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    expect_correct(*kernel,
                   {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}, {"double_buffer", {}}});
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}},
                             {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}},
                             {"smem_tile", {{"loop", "1"}, {"depth", "16"}, {"copy", "vector"}}},
                             {"double_buffer", {}}});
  }
}

TEST(DoubleBuffer, RefusesWithAReason) {
  const Application step = {"double_buffer", {}};
  expect_refusal(*sample("matmul_guard"), step, "no shared tiles");
  expect_refusal(*sample("sum_sequential_tree"), step, "not a counted loop");
}

TEST(DoubleBuffer, LetsSomeThreadsCopyNothing) {
  expect_correct(*sample("matmul_guard"),
                 {{"smem_tile", {{"loop", "1"}, {"depth", "8"}}}, {"double_buffer", {}}});
}

}  // namespace
}  // namespace regraph::test::contraction_steps_test
