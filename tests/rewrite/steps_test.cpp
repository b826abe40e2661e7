// Every step on kernels where it must apply, and where it must refuse and say why.
#include "rewrite/step_checks.h"
#include "source/printer.h"

#include <gtest/gtest.h>

namespace regraph::test::steps_test {
namespace {

TEST(CoalesceSwap, ExchangesAxesAndKeepsTheLongSideInX) {
  const auto kernel = sample("matmul_swapped_axes");
  const auto state = expect_correct(*kernel, {{"coalesce_swap", {}}});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{32, 8, 1}));
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(N, bx)");
}

TEST(CoalesceSwap, RefusesWhatIsCoalescedOrHasOneAxis) {
  const auto coalesced = sample("matmul_guard");
  expect_refusal(*coalesced, {"coalesce_swap", {}}, "would not be closer together");
  const auto one_axis = sample("row_sums");
  expect_refusal(*one_axis, {"coalesce_swap", {}}, "does not use the y axis");
}

TEST(BlockSize, ChangesShapeBeforeAndAfterCoarsening) {
  const auto kernel = sample("matmul_guard");
  expect_correct(*kernel, {{"block_size", {{"block", "32x4"}}}});
  expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}},
                           {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}},
                           {"block_size", {{"block", "32x8"}}}});
}

TEST(BlockSize, GivesATwoDimensionalKernelRows) {
  const auto kernel = sample("five_point_stencil");
  const auto state = expect_correct(*kernel, {{"block_size", {{"block", "128"}}}});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{128, 1, 1}));
  expect_correct(*kernel, {{"block_size", {{"block", "64"}}},
                           {"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}},
                           {"smem_halo", {}}});
}

TEST(BlockSize, RefusesWhereTheBlockIsPartOfTheResult) {
  const auto reduction = sample("sum_sequential_tree");
  expect_refusal(*reduction, {"block_size", {{"block", "128"}}}, "shared arrays");
  auto partials = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n && threadIdx.x == 0) b[blockIdx.x] = a[i];\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: ['cdiv(n, 64)']}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(partials.ok()) << partials.error().message;
  expect_refusal(**partials, {"block_size", {{"block", "128"}}}, "within the block");
}

TEST(ThreadCoarsen, JamsUniformLoopsIntoARegisterTile) {
  const auto kernel = sample("matmul_guard");
  const auto state =
      expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "4"}}},
                               {"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("float sum[4][4]"), std::string::npos) << text;
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(N, 4 * bx)");
}

TEST(ThreadCoarsen, FactorNeedNotDivideTheGrid) {
  for (const char* name : {"saxpy_return", "three_point_stencil", "window_sum", "row_sums",
                           "scale_under_guard", "all_pairs_vectors"}) {
    const auto kernel = sample(name);
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "8"}}}});
  }
}

TEST(ThreadCoarsen, KeepsSharedArraysOnceABlock) {
  for (const char* name : {"sum_sequential_tree", "max_strided_index_tree", "histogram_shared"}) {
    const auto kernel = sample(name);
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
  }
}

// What a loop that every copy repeats goes through begins anew in each, though it is the same.
// Copies of a pointer would point to one array.
TEST(ThreadCoarsen, LeavesSharedArraysBehindPointers) {
  const auto kernel = KernelCase::make(R"~(
__global__ void f(const float* x, float* out, int rows, int n) {
  __shared__ float halves[2][64];
  const int lane = threadIdx.x;
  float* here = halves[0];
  float* there = halves[1];
  here[lane] = lane < n ? x[blockIdx.x * n + lane] : 0.0f;
  __syncthreads();
  for (int distance = 1; distance < 64; distance *= 2) {
    there[lane] = lane >= distance ? here[lane] + here[lane - distance] : here[lane];
    __syncthreads();
    float* other = here;
    here = there;
    there = other;
  }
  if (lane < n) out[blockIdx.x * n + lane] = here[lane];
})~",
                                       R"~(
sizes: {rows: 8, n: 60}
args: {x: {dir: in, shape: [rows, n]}, out: {dir: out, shape: [rows, n]}}
launch: {block: 64, grid: rows}
tests: [{rows: 4, n: 33}, {rows: 2, n: 64}]
)~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}},
                 "'halves' is written through a pointer");
}

TEST(ThreadCoarsen, RestartsWhatARepeatedLoopCounts) {
  for (const char* name : {"chunks_until_either_end", "counts_by_hand"}) {
    SCOPED_TRACE(name);
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* factor : {"2", "8"})
      expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", factor}}}});
  }
  // Where the loop ends early is a guard, so that both share it.
  const auto kernel = sample("chunks_until_either_end");
  const auto state =
      expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
  EXPECT_NE(source::print(state.unit).find("for (int k = 0; k < 8; ++k)"), std::string::npos)
      << source::print(state.unit);
}

// The counter says nothing of the row, but where the loop begins and ends does.
TEST(ThreadCoarsen, ReadsUnderTheGuardWhatALoopOverARowReads) {
  auto kernel = KernelCase::make(
      "__global__ void rows(const float* A, float* C, int M, int K) {\n"
      "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= M) return;\n"
      "  int start = row * K;\n  int end = start + K;\n  float sum = 0.0f;\n"
      "  for (int at = row * K; at < end; ++at) sum += A[at];\n  C[row] = sum;\n}",
      "sizes: {M: 300, K: 45}\n"
      "args: {A: {dir: in, shape: [M, K]}, C: {dir: out, shape: [M]}}\n"
      "launch: {block: 64, grid: \"cdiv(M, bx)\"}\ntests: [{M: 70, K: 9}, {M: 1, K: 1}]\n"
      "assume: {reassociate: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const char* factor : {"2", "4"})
    expect_correct(**kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", factor}}}});
  expect_correct(**kernel, {{"slice_reduction", {{"slices", "8"}}}});
}

TEST(ThreadCoarsen, RefusesParametersThatChange) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  m = m / 2;\n  if (i < n) b[i] = m * a[i];\n}",
      "sizes: {n: 1000, m: 40}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: \"cdiv(n, bx)\"}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}},
                 "the parameter 'm' is changed");
}

// The guard may have any form, and a name.
TEST(ThreadCoarsen, ReadsGuardsInManyForms) {
  for (const char* guard :
       {"if (i >= n) return;", "if (!(i < n)) return;", "bool ok = i < n; if (!ok) return;",
        "const bool out = i >= n; if (out) return;"}) {
    SCOPED_TRACE(guard);
    auto kernel = KernelCase::make(
        std::string("__global__ void f(const float* a, float* b, int n) {\n"
                    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  ") +
            guard + "\n  b[i] = 2 * a[i];\n}",
        "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
        "launch: {block: 64, grid: \"cdiv(n, bx)\"}\n"
        "assume: {noalias: true}\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_correct(**kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
    expect_correct(**kernel, {{"vectorize_global", {{"width", "4"}}}});
  }
}

TEST(ThreadCoarsen, SaysWhichGuardDoesNotEndWithTheGrid) {
  const auto refusal_for = [](const std::string& guard, const char* part) {
    auto kernel = KernelCase::make(
        "__global__ void f(const float* a, float* b, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            guard + "  b[i] = a[i];\n}",
        "sizes: {n: 1024, m: 1024}\n"
        "args: {a: {dir: in, shape: [m]}, b: {dir: out, shape: [m]}}\n"
        "launch: {block: 64, grid: \"cdiv(m, bx)\"}\ntests: [{n: 1024, m: 1024}]\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_refusal(**kernel, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}, part);
  };
  refusal_for("  if (i < n)\n", "in line 4 is guarded by 'i < n', which is not known to end");
  refusal_for("  bool ok = i < n;\n  if (ok)\n", "is guarded by 'i < n'");
  refusal_for("", "in line 3 is under no guard 'index < n'");
}

TEST(ThreadCoarsen, UnderstandsGridsOfManyForms) {
  const auto merged = [](const std::string& code, const std::string& grid) {
    auto kernel = KernelCase::make(
        "__global__ void f(const float* a, float* b, int n, int m) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            code + "}",
        "sizes: {n: 24, m: 128}\n"
        "args: {a: {dir: in, shape: [n, m]}, b: {dir: out, shape: [n, m]}}\n"
        "launch: {block: 64, grid: \"" +
            grid + "\"}\ntests: [{n: 3, m: 64}, {n: 24, m: 128}]\n");
    EXPECT_TRUE(kernel.ok()) << kernel.error().message;
    const auto state =
        expect_correct(**kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
    return source::print(state.unit);
  };
  const auto tests_grid = [](const std::string& text) {
    return text.find("(int)(blockIdx.x * 4 + cx) <") != std::string::npos;
  };
  // The guard does it where the grid ends at or behind its limit.
  EXPECT_FALSE(tests_grid(merged("  if (i < n * m) b[i] = a[i];\n", "cdiv(n * m, bx)")));
  EXPECT_FALSE(tests_grid(merged("  if (i < n * m) b[i] = a[i];\n", "(n * m + 63) / 64")));
  EXPECT_FALSE(tests_grid(merged("  if (i < n * m - 2) b[i] = a[i];\n", "cdiv(n * m, bx)")));
  EXPECT_FALSE(tests_grid(merged("  if (n * m > i) b[i] = a[i];\n", "cdiv(n * m + 9, bx)")));
  // Where it rounds down or nothing is guarded, the grid is tested.
  EXPECT_TRUE(tests_grid(merged("  if (i < n * m) b[i] = a[i];\n", "n * m / bx")));
  EXPECT_TRUE(tests_grid(merged("  b[i] = a[i];\n", "n * m / 64")));
  EXPECT_TRUE(tests_grid(merged("  if (i < n * m) b[i] = a[i];\n", "max(cdiv(n * m, bx), 1)")));
  EXPECT_TRUE(tests_grid(merged("  if (i < n * m) b[i] = a[i];\n", "cdiv(n * m, bx) + 1")));
}

TEST(ThreadCoarsen, RefusesGridDimAndTooManyRegisters) {
  auto strided = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
      "    b[i] = a[i];\n}",
      "sizes: {n: 1000}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 4}\n");
  ASSERT_TRUE(strided.ok()) << strided.error().message;
  expect_refusal(**strided, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}, "gridDim.x");
  const auto kernel = sample("matmul_guard");
  const auto tile = expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "8"}}},
                                             {"thread_coarsen", {{"axis", "x"}, {"factor", "8"}}}});
  expect_refusal(*kernel, tile, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}, "registers");
}

TEST(SmemTile, TilesContractionsOfManyStyles) {
  for (const char* name : {"matmul_guard", "matmul_return_macro", "matmul_transposed_operand",
                           "distance_matrix", "max_plus_product"}) {
    const auto kernel = sample(name);
    ASSERT_NE(kernel, nullptr);
    for (const char* depth : {"8", "32"}) {
      SCOPED_TRACE(std::string(name) + " depth " + depth);
      expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", depth}}}});
    }
    expect_correct(*kernel, {{"thread_coarsen", {{"axis", "y"}, {"factor", "2"}}},
                             {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}},
                             {"smem_tile", {{"loop", "1"}, {"depth", "16"}}},
                             {"smem_pad", {{"pad", "1"}}}});
  }
}

TEST(SmemTile, DropsTheGuardFromTheInnerLoop) {
  const auto kernel = sample("matmul_guard");
  const auto state = expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}});
  const std::string text = source::print(state.unit);
  const std::size_t inner = text.find("for (int k1");
  ASSERT_NE(inner, std::string::npos) << text;
  EXPECT_EQ(text.find("if (", inner), text.find("if (row < M && col < N)", inner)) << text;
  EXPECT_EQ(text.substr(inner, text.find("__syncthreads", inner) - inner).find("if ("),
            std::string::npos);
}

TEST(SmemTile, ShortensTheLastStripWhereZerosWouldCount) {
  const auto kernel = sample("distance_matrix");
  const auto state = expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}});
  EXPECT_NE(source::print(state.unit).find("min(16, K - k0)"), std::string::npos);
}

TEST(SmemTile, StagesOnlyWhatItsGuardsAllow) {
  // k <= row says which elements of A exist, but nothing that B's coordinates could express.
  const auto kernel = sample("triangular_product");
  const auto state = expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "8"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("A_tile"), std::string::npos);
  EXPECT_EQ(text.find("B_tile"), std::string::npos);
}

TEST(SmemTile, OffersEveryLoop) {
  const auto kernel = sample("two_contractions");
  const auto nested = expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "16"}}}});
  EXPECT_NE(source::print(nested.unit).find("B_tile"), std::string::npos);
  const auto second = expect_correct(*kernel, {{"smem_tile", {{"loop", "2"}, {"depth", "16"}}}});
  EXPECT_NE(source::print(second.unit).find("V_tile"), std::string::npos);
  expect_refusal(*kernel, {"smem_tile", {{"loop", "3"}, {"depth", "16"}}}, "only 2");
}

TEST(SmemTile, StagesVectors) {
  const auto kernel = sample("all_pairs_vectors");
  const auto state = expect_correct(*kernel, {{"smem_tile", {{"loop", "1"}, {"depth", "32"}}}});
  EXPECT_NE(source::print(state.unit).find("make_float4(0.0f, 0.0f, 0.0f, 0.0f)"),
            std::string::npos);
}

TEST(SmemTile, RefusesWithAReason) {
  expect_refusal(*sample("window_sum"), {"smem_tile", {{"loop", "1"}, {"depth", "8"}}},
                 "neighbourhood");
  expect_refusal(*sample("saxpy_return"), {"smem_tile", {{"loop", "1"}, {"depth", "8"}}},
                 "no counted loop");
  expect_refusal(*sample("sum_sequential_tree"), {"smem_tile", {{"loop", "1"}, {"depth", "8"}}},
                 "shared memory already");
  expect_refusal(*sample("row_sums"), {"smem_tile", {{"loop", "1"}, {"depth", "8"}}},
                 "read only once");
}

TEST(SmemTranspose, ExchangesThroughATile) {
  const auto kernel = sample("transpose_return");
  expect_correct(*kernel, {{"smem_transpose", {}}, {"smem_pad", {{"pad", "1"}}}});
  expect_correct(*kernel,
                 {{"smem_transpose", {}}, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
  const auto gather = sample("gather_columns");
  expect_refusal(*gather, {"smem_transpose", {}}, "coalesce_swap");
  expect_correct(*gather, {{"coalesce_swap", {}}, {"smem_transpose", {}}});
}

TEST(SmemTranspose, NeedsASquareBlock) {
  const auto kernel = sample("transpose_return");
  const auto state = expect_correct(*kernel, {{"block_size", {{"block", "32x8"}}}});
  expect_refusal(*kernel, state, {"smem_transpose", {}}, "square");
}

TEST(SmemPad, RefusesWithoutASuitableArray) {
  expect_refusal(*sample("matmul_guard"), {"smem_pad", {{"pad", "1"}}}, "no shared array");
  expect_refusal(*sample("sum_sequential_tree"), {"smem_pad", {{"pad", "1"}}}, "no shared array");
}

TEST(LoopUnroll, UnrollsNestsAndSingleLoops) {
  const auto convolution = sample("convolution_5x5");
  const auto nest =
      expect_correct(*convolution, {{"loop_unroll", {{"loop", "all"}, {"factor", "full"}}}});
  const std::string text = source::print(nest.unit);
  EXPECT_NE(text.find("#pragma unroll"), text.rfind("#pragma unroll")) << text;
  const auto softmax = sample("softmax_rows");
  const auto second = expect_correct(*softmax, {{"loop_unroll", {{"loop", "2"}, {"factor", "4"}}}});
  const std::string unrolled = source::print(second.unit);
  EXPECT_EQ(unrolled.find("#pragma unroll 4"), unrolled.rfind("#pragma unroll 4"));
  expect_refusal(*convolution, {"loop_unroll", {{"loop", "1"}, {"factor", "2"}}}, "only one loop");
}

TEST(LoopUnroll, AddsPragmasOnce) {
  const auto kernel = sample("matmul_guard");
  const auto state = expect_correct(*kernel, {{"loop_unroll", {{"loop", "all"}, {"factor", "4"}}}});
  EXPECT_NE(source::print(state.unit).find("#pragma unroll 4"), std::string::npos);
  expect_refusal(*kernel, state, {"loop_unroll", {{"loop", "all"}, {"factor", "8"}}},
                 "without a pragma");
  expect_refusal(*kernel, {"loop_unroll", {{"loop", "all"}, {"factor", "full"}}},
                 "constant trip count");
}

TEST(RestrictLdg, QualifiesPointersAndNeedsPermission) {
  const auto kernel = sample("matmul_return_macro");
  const auto state = expect_correct(*kernel, {{"restrict_ldg", {}}});
  EXPECT_NE(source::print(state.unit).find("float* __restrict__ C"), std::string::npos);
  expect_refusal(*kernel, state, {"restrict_ldg", {}}, "already");
  auto aliased = KernelCase::make(
      "__global__ void f(const float* a, float* b) { b[threadIdx.x] = a[threadIdx.x]; }",
      "args: {a: {dir: in, shape: [32]}, b: {dir: out, shape: [32]}}\nlaunch: {block: 32, grid: "
      "1}\n"
      "assume: {noalias: false}\n");
  ASSERT_TRUE(aliased.ok()) << aliased.error().message;
  expect_refusal(**aliased, {"restrict_ldg", {}}, "noalias");
  expect_refusal(**aliased, {"smem_tile", {{"loop", "1"}, {"depth", "8"}}}, "noalias");
}

TEST(LaunchBounds, FollowsTheBlock) {
  const auto kernel = sample("matmul_guard");
  const auto state = expect_correct(
      *kernel, {{"launch_bounds", {{"min_blocks", "2"}}}, {"block_size", {{"block", "32x16"}}}});
  EXPECT_NE(source::print(state.unit).find("__launch_bounds__(512, 2)"), std::string::npos);
  expect_refusal(*kernel, state, {"launch_bounds", {{"min_blocks", "1"}}}, "already");
}

TEST(ReduceShuffle, ReplacesTreesOfAllShapes) {
  for (const char* name : {"sum_sequential_tree", "max_strided_index_tree"}) {
    const auto kernel = sample(name);
    const auto state = expect_correct(*kernel, {{"reduce_shuffle", {}}});
    EXPECT_NE(source::print(state.unit).find("__shfl_down_sync"), std::string::npos);
    expect_correct(*kernel,
                   {{"reduce_shuffle", {}}, {"thread_coarsen", {{"axis", "x"}, {"factor", "8"}}}});
  }
  auto divergent = KernelCase::example("reduction");
  ASSERT_TRUE(divergent.ok()) << divergent.error().message;
  expect_correct(**divergent, {{"reduce_shuffle", {}}});
}

TEST(ReduceShuffle, RefusesWhatIsNoTree) {
  expect_refusal(*sample("histogram_shared"), {"reduce_shuffle", {}}, "no tree reduction");
  auto scan = KernelCase::make(
      "__global__ void f(const float* in, float* out) {\n"
      "  __shared__ float s[64];\n  s[threadIdx.x] = in[threadIdx.x];\n  __syncthreads();\n"
      "  for (int stride = 32; stride > 0; stride >>= 1) {\n"
      "    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];\n"
      "    __syncthreads();\n  }\n"
      "  out[threadIdx.x] = s[threadIdx.x];\n}",
      "args: {in: {dir: in, shape: [64]}, out: {dir: out, shape: [64]}}\nlaunch: {block: 64, grid: "
      "1}\n");
  ASSERT_TRUE(scan.ok()) << scan.error().message;
  expect_refusal(**scan, {"reduce_shuffle", {}}, "partial results");
}

// Of 96 threads, rounds of 48, 24, 12, 6, 3 and 1 leave the third one out.
TEST(RowKernel, RefusesTreesThatLeaveThreadsOut) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* in, float* out, int n) {\n"
      "  __shared__ float s[96];\n  float sum = 0.0f;\n"
      "  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];\n"
      "  s[threadIdx.x] = sum;\n  __syncthreads();\n"
      "  for (int stride = 48; stride > 0; stride >>= 1) {\n"
      "    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];\n"
      "    __syncthreads();\n  }\n"
      "  if (threadIdx.x == 0) out[blockIdx.x] = s[0];\n}",
      "sizes: {rows: 40, n: 200}\n"
      "args: {in: {dir: in, shape: [rows, n]}, out: {dir: out, shape: [rows]}}\n"
      "launch: {block: 96, grid: rows}\nassume: {reassociate: true}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, {"row_kernel", {{"rows", "1"}, {"threads", "64"}, {"width", "1"}}},
                 "no power of two");
}

TEST(Steps, RefuseOpaqueKernels) {
  auto kernel = KernelCase::make(
      "__global__ void f(const float* a, float* b, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int j = 0;\n"
      "  again: if (++j < n % 3) goto again;\n"
      "  if (i < n) b[i] = a[i] + j;\n}",
      "sizes: {n: 100}\nargs: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  EXPECT_TRUE((*kernel)->round_trips());
  expect_refusal(**kernel, {"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}, "line 4");
  expect_refusal(**kernel, {"block_size", {{"block", "128"}}}, "line 4");
}

}  // namespace
}  // namespace regraph::test::steps_test
