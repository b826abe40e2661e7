// Steps on kernels as production code writes them: half types, shuffles, cooperative groups, cub.
#include "rewrite/step_checks.h"
#include "source/build.h"
#include "source/missing_operand.h"
#include "source/walk.h"

namespace regraph::test::production_steps_test {
namespace {

Application rows(const char* threads, const char* width = "1") {
  return {"row_kernel", {{"threads", threads}, {"rows", "1"}, {"width", width}}};
}

// A tile of half type that is filled under a guard alone once ended the program.
TEST(HalfTiles, GoAndComeBack) {
  const auto kernel = sample("half_reversed_tiles");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "4"}}}});
  const auto plain = kernel->apply(kernel->original(), "untile");
  if (!plain) {
    EXPECT_EQ(plain.error().code, ErrorCode::refused) << plain.error().message;
  }
  const auto border = sample("bfloat16_border");
  ASSERT_NE(border, nullptr);
  const auto staged = expect_correct(*border, {{"smem_transpose", {}}});
  // Zeros of the type itself: a conversion would be a lower precision than the original's.
  const std::string text = source::print(staged.unit);
  EXPECT_EQ(text.find("(__nv_bfloat16)0.0f"), std::string::npos) << text;
}

TEST(BlockExchanges, ByShufflesAreRowsOfAThread) {
  const auto kernel = sample("shuffled_layer_norm");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {rows("64")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("const float mean = sum / width;"), std::string::npos) << text;
  expect_correct(*kernel, {rows("256", "4")});
}

TEST(BlockExchanges, OfTwoSumsAndAStoreThatIsAskedFor) {
  const auto kernel = sample("group_layer_norm");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {rows("64")});
  const std::string text = source::print(state.unit);
  EXPECT_NE(text.find("if (means != nullptr)"), std::string::npos) << text;
}

TEST(Packs, AreTheElementsThatTheyHold) {
  const auto kernel = sample("packed_swish");
  ASSERT_NE(kernel, nullptr);
  const auto state =
      expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
  const std::string text = source::print(state.unit);
  EXPECT_EQ(text.find("memcpy(&"), text.rfind("memcpy(&values")) << text;
  EXPECT_NE(text.find("= in["), std::string::npos) << text;
}

TEST(Packs, InArraysOfVectorsAreElements) {
  const auto kernel = sample("vector_array_scale");
  ASSERT_NE(kernel, nullptr);
  const rewrite::KernelAnalysis analysis = kernel->analysis(kernel->original());
  rewrite::KernelState plain = kernel->original();
  plain.unit.kernel = analysis.kernel();
  const std::string text = source::print(plain.unit.kernel.body, 0);
  EXPECT_EQ(text.find("int4"), std::string::npos) << text;
  EXPECT_NE(text.find("values_data[16]"), std::string::npos) << text;
  EXPECT_EQ(kernel->verdict(plain), "correct");
  expect_correct(*kernel, {{"thread_coarsen", {{"axis", "x"}, {"factor", "2"}}}});
}

// What is used as elements of two types, or handed on whole, stays as it is.
TEST(Packs, ThatAreMoreThanElementsStay) {
  for (const char* body : {"float s = ((half*)p)[1]; s += ((float*)p)[0]; y[i] = s;",
                           "y[i] = p[0].x + (float)((half*)p)[1];",
                           "*(half2*)(&(p[0].x)) = make_half2(((half*)p)[1], ((half*)p)[0]); "
                           "y[i] = ((half*)p)[0];"}) {
    auto kernel = KernelCase::make(
        "#include <cuda_fp16.h>\n__global__ void f(float* y, const half* x) {\n"
        "  const int i = threadIdx.x;\n  int4 p[1];\n  p[0] = ((const int4*)x)[i];\n  " +
            std::string(body) + "\n}\n",
        "sizes: {n: 64}\nargs: {y: {dir: out, shape: [n]}, x: {dir: in, shape: [8 * n]}}\n"
        "launch: {block: 64, grid: 1}\ntests: [{n: 64}]\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const rewrite::KernelAnalysis analysis = (*kernel)->analysis((*kernel)->original());
    const std::string text = source::print(analysis.kernel().body, 0);
    EXPECT_NE(text.find("int4 p[1]"), std::string::npos) << text;
  }
}

// A vector that begins as no copy of elements keeps what it is declared with.
TEST(Packs, ThatAreDeclaredWithNumbersKeepThem) {
  auto kernel = KernelCase::make(
      "#include <cuda_fp16.h>\n__global__ void f(float* y, const half* x, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  half pack[8];\n  int4 bits = make_int4(0x3c003c00, 0x40004000, 0, 0);\n"
      "  memcpy(&pack, &bits, 16);\n  if (x[i] > __float2half(0.0f)) {\n"
      "    bits = ((const int4*)x)[0];\n    memcpy(&pack, &bits, 16);\n  }\n"
      "  float s = 0.0f;\n  for (int k = 0; k < 8; ++k) s += __half2float(pack[k]);\n"
      "  y[i] = s;\n}\n",
      "sizes: {n: 64}\nargs: {y: {dir: out, shape: [n]}, x: {dir: in, shape: [n]}}\n"
      "launch: {block: 64, grid: 'cdiv(n, bx)'}\ntests: [{n: 64}]\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  rewrite::KernelState plain = (*kernel)->original();
  plain.unit.kernel = (*kernel)->analysis((*kernel)->original()).kernel();
  const std::string text = source::print(plain.unit.kernel.body, 0);
  EXPECT_NE(text.find("make_int4"), std::string::npos) << text;
  EXPECT_EQ((*kernel)->verdict(plain), "correct") << text;
}

// The index is no polynomial, but at a test size of five blocks each element has its own thread.
TEST(GridStrideLoops, WhoseIterationsWereSeenApart) {
  const auto kernel = sample("capped_permutation");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {{"thread_per_element", {}}});
  const auto never = KernelCase::make(kernel->problem().source, R"~(
sizes: {d0: 64, d1: 512, d2: 64}
args: {to: {dir: out, shape: [d0 * d1 * d2]}, from: {dir: in, shape: [d0 * d1 * d2]}}
launch: {block: 128, grid: 1}
tests: [{d0: 3, d1: 5, d2: 100}]
)~");
  ASSERT_TRUE(never.ok()) << never.error().message;
  expect_refusal(**never, {"thread_per_element", {}}, "no polynomial");
}

TEST(DealtLoops, RunInBlocksOfAnyExtent) {
  const auto kernel = sample("dealt_rotation");
  ASSERT_NE(kernel, nullptr);
  expect_correct(*kernel, {{"block_size", {{"block", "64"}}}});
  expect_correct(*kernel, {{"block_size", {{"block", "256"}}}});
  const std::string manifest =
      "sizes: {rows: 64, n: 300}\nargs: {y: {dir: out, shape: [rows, n]}}\n"
      "launch: {block: 128, grid: rows}\ntests: [{rows: 2, n: 300}]\n";
  const auto refusal = [&](const std::string& body) {
    auto other = KernelCase::make("__global__ void f(float* y, int n) { " + body + " }", manifest);
    EXPECT_TRUE(other.ok()) << other.error().message;
    if (other) expect_refusal(**other, {"block_size", {{"block", "64"}}}, "not written in bx");
  };
  refusal("for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = threadIdx.x;");
  refusal("for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = blockDim.x;");
  // What the first thread has of the loop, and how often all threads do something.
  refusal(
      "for (int i = threadIdx.x; i < n; i += blockDim.x) { y[blockIdx.x * n + i] = 1.0f; "
      "if (threadIdx.x == 0) y[blockIdx.x * n + i] = 2.0f; }");
  refusal(
      "for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = 1.0f; "
      "__syncthreads(); atomicAdd(&y[blockIdx.x * n], 1.0f);");
  refusal(
      "float last = 0; for (int i = threadIdx.x; i < n; i += blockDim.x) "
      "{ y[blockIdx.x * n + i] = last; last = i; }");
  refusal(
      "float last[1] = {0}; for (int i = threadIdx.x; i < n; i += blockDim.x) "
      "{ y[blockIdx.x * n + i] = last[0]; last[0] = i; }");
}

TEST(BlockExchanges, OfLibrariesAreRowsOfAThread) {
  const auto groups = sample("group_row_maximum");
  ASSERT_NE(groups, nullptr);
  expect_correct(*groups, {rows("64")});
  expect_correct(*groups, {rows("256")});
  // Not among the samples: with cub's headers every candidate takes the compiler seconds.
  const auto cub = KernelCase::make(R"~(
#include <cub/block/block_reduce.cuh>
#include <cuda_bf16.h>
__global__ void rms(__nv_bfloat16* y, const __nv_bfloat16* x, const __nv_bfloat16* w, float eps,
                    int width) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  __shared__ float scale;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    float v = x[(long)blockIdx.x * width + i];
    sum += v * v;
  }
  sum = Reduce(storage).Sum(sum);
  if (threadIdx.x == 0) scale = rsqrtf(sum / width + eps);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const long at = (long)blockIdx.x * width + i;
    y[at] = (__nv_bfloat16)((float)x[at] * scale) * w[i];
  }
})~",
                                    R"~(
sizes: {rows: 4096, width: 1024}
args:
  y: {dir: out, shape: [rows, width]}
  x: {dir: in, shape: [rows, width]}
  w: {dir: in, shape: [width]}
  eps: 0.001
launch: {block: 128, grid: rows}
tests: [{rows: 3, width: 300}, {rows: 2, width: 64}]
assume: {noalias: true, reassociate: true}
)~");
  ASSERT_TRUE(cub.ok()) << cub.error().message;
  expect_correct(**cub, {rows("64")});
}

TEST(BlockExchanges, OfWarpsAreRowsOfAThread) {
  const auto kernel = sample("warp_row_sums");
  ASSERT_NE(kernel, nullptr);
  const auto state = expect_correct(*kernel, {rows("64", "4")});
  EXPECT_EQ(state.plan.launches[0].block, (Dim3{64, 1, 1}));
}

// What a block makes of a row by the loop and the exchange; `before`: functions.
Result<std::unique_ptr<KernelCase>> rows_of_blocks(const std::string& before,
                                                   const std::string& loop,
                                                   const std::string& exchange) {
  return KernelCase::make(
      before +
          "__global__ void f(float* y, const float* x, int n) {\n"
          "  __shared__ float parts[32], parts2[32], total;\n"
          "  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;\n" +
          loop + exchange + "}",
      "sizes: {rows: 64, n: 512}\nargs: {y: {dir: inout, shape: [rows, 128]}, x: {dir: in, shape: "
      "[rows, "
      "n]}}\nlaunch: {block: 128, grid: rows}\ntests: [{rows: 3, n: 300}, {rows: 1, n: 31}]\n");
}

Result<std::unique_ptr<KernelCase>> sum_of_rows(const std::string& exchange) {
  return rows_of_blocks(
      "__device__ float warp_sum(float v) {\n"
      "  for (int d = 16; d > 0; d >>= 1) v += __shfl_down_sync(0xffffffff, v, d);\n"
      "  return v;\n}\n",
      "float s = 0.0f;\n"
      "for (int i = threadIdx.x; i < n; i += blockDim.x) s += x[blockIdx.x * n + i];\n",
      exchange);
}

Result<std::unique_ptr<KernelCase>> maximum_of_rows(const std::string& exchange) {
  return rows_of_blocks(
      "__device__ float warp_max(float v) {\n  for (int d = 16; d > 0; d >>= 1) {\n"
      "    const float o = __shfl_xor_sync(0xffffffff, v, d);\n    v = o > v ? o : v;\n  }\n"
      "  return v;\n}\n",
      "float s = -INFINITY;\n"
      "for (int i = threadIdx.x; i < n; i += blockDim.x) s = max(s, x[blockIdx.x * n + i]);\n",
      exchange);
}

TEST(BlockExchanges, AreSeenHoweverTheyAreWritten) {
  for (const char* exchange : {
           // Down the lanes, then by the first warp.
           "for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
           "if (lane == 0) parts[warp] = s;\n__syncthreads();\n"
           "if (warp == 0) { s = lane < 4 ? parts[lane] : 0.0f;\n"
           "for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
           "if (lane == 0) y[blockIdx.x * 128] = s; }\n",
           // Written out, and added up by one thread.
           "s += __shfl_xor_sync(~0u, s, 16); s += __shfl_xor_sync(~0u, s, 8);\n"
           "s += __shfl_xor_sync(~0u, s, 4); s += __shfl_xor_sync(~0u, s, 2);\n"
           "s += __shfl_xor_sync(~0u, s, 1);\nif (lane == 5) parts[warp] = s;\n__syncthreads();\n"
           "float t = parts[0]; for (int w = 1; w < 4; ++w) t += parts[w];\n"
           "if (threadIdx.x == 0) y[blockIdx.x * 128] = t;\n",
           // The first warp's function alone stands under a condition, and copies behind it.
           "float v = warp_sum(s);\nif (lane == 0) parts[warp] = v;\n__syncthreads();\n"
           "v = threadIdx.x < blockDim.x / 32 ? parts[lane] : 0.0f;\n"
           "if (warp == 0) v = warp_sum(v);\n"
           "if (threadIdx.x == 0) total = v / n;\n__syncthreads();\n"
           "for (int i = threadIdx.x; i < 128; i += blockDim.x) y[blockIdx.x * 128 + i] = total;\n",
           // What the first thread has goes to all of them by a variable that they share.
           "s = warp_sum(s);\nif (lane == 0) parts[warp] = s;\n__syncthreads();\n"
           "if (threadIdx.x < 32) {\n  s = threadIdx.x < 4 ? parts[threadIdx.x] : 0.0f;\n"
           "  s = warp_sum(s);\n  if (threadIdx.x == 0) total = s;\n}\n__syncthreads();\n"
           "const float all = total;\n"
           "for (int i = threadIdx.x; i < 128; i += blockDim.x) y[blockIdx.x * 128 + i] = all;\n",
           // The first thread adds up, and every warp hears it from its first lane.
           "s = warp_sum(s);\nif (lane == 0) parts[warp] = s;\n__syncthreads();\n"
           "s = 0.0f;\nif (lane == 0) { for (int w = 0; w < 4; ++w) s += parts[w]; }\n"
           "s = __shfl_sync(0xffffffff, s, 0);\n"
           "for (int i = threadIdx.x; i < 128; i += blockDim.x) y[blockIdx.x * 128 + i] = s;\n",
       }) {
    SCOPED_TRACE(exchange);
    auto kernel = sum_of_rows(exchange);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_correct(**kernel, {rows("64")});
  }
}

// max and fmaxf are one, so are choices that are written out. A number that lanes without a warp
// begin with may decide the maximum, so it stays: here of rows that may have no positive element.
TEST(BlockExchanges, OfMaximaKeepTheNumbersThatTheyBeginWith) {
  for (const char* start : {"-INFINITY", "-1e30f", "0.25f"}) {
    SCOPED_TRACE(start);
    auto kernel = maximum_of_rows(
        "s = warp_max(s);\nif (lane == 0) parts[warp] = s;\n__syncthreads();\n"
        "s = lane < blockDim.x / 32 ? parts[lane] : " +
        std::string(start) +
        ";\ns = warp_max(s);\n"
        "for (int i = threadIdx.x; i < 128; i += blockDim.x) y[blockIdx.x * 128 + i] = s;\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto state = expect_correct(**kernel, {rows("64")});
    const std::string text = source::print(state.unit);
    EXPECT_EQ(text.find("0.25f") != std::string::npos, std::string(start) == "0.25f") << text;
  }
}

TEST(BlockExchanges, ThatLeaveSomethingElseStay) {
  const auto expect_refused = [](const std::string& exchange) {
    auto kernel = sum_of_rows(exchange);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto state = (*kernel)->apply((*kernel)->original(), "row_kernel",
                                        {{"threads", "64"}, {"rows", "1"}, {"width", "1"}});
    ASSERT_FALSE(state.ok()) << exchange;
    EXPECT_EQ(state.error().code, ErrorCode::refused) << state.error().message;
  };
  // The sum of each warp, and what lanes get that have no partner.
  expect_refused(
      "for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);\n"
      "if (lane == 0) y[blockIdx.x * 128 + warp] = s;\n");
  expect_refused(
      "for (int d = 16; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
      "if (lane == 0) parts[warp] = s;\n__syncthreads();\n"
      "s = lane < 4 ? parts[lane] : 0.0f;\n"
      "for (int d = 2; d > 0; d /= 2) s += __shfl_down_sync(~0u, s, d);\n"
      "y[blockIdx.x * 128 + threadIdx.x] = s;\n");
  // One warp is left out.
  expect_refused(
      "for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(~0u, s, d);\n"
      "if (lane == 0) parts[warp] = s;\n__syncthreads();\n"
      "float t = parts[0]; for (int w = 1; w < 3; ++w) t += parts[w];\n"
      "if (threadIdx.x == 0) y[blockIdx.x * 128] = t;\n");
  // Half of the warps.
  const std::string first =
      "float v = warp_sum(s);\nif (lane == 0) parts[warp] = v;\n__syncthreads();\n";
  const std::string last = "if (threadIdx.x == 0) y[blockIdx.x * 128] = v;\n";
  expect_refused(first + "v = threadIdx.x < 2 ? parts[lane] : 0.0f;\nv = warp_sum(v);\n" + last);
  // A number that a sum is more by.
  expect_refused(first + "v = threadIdx.x < 4 ? parts[lane] : 1.0f;\nv = warp_sum(v);\n" + last);
  // One warp's sum is asked for besides, or in the total's place.
  const std::string second =
      "v = threadIdx.x < 4 ? parts[lane] : 0.0f;\nif (warp == 0) v = warp_sum(v);\n";
  expect_refused(first + second + "if (threadIdx.x == 0) y[blockIdx.x * 128 + 1] = parts[1];\n" +
                 last);
  expect_refused(first + "if (threadIdx.x == 0) total = v;\n" + second +
                 "__syncthreads();\nif (threadIdx.x == 0) y[blockIdx.x * 128] = v + total;\n");
}

// Two sums in a vector are two sums; a vector that is read as a whole elsewhere stays one, and
// components that change places are set one after another only where that is the same.
TEST(BlockExchanges, OfPairsInAVectorAreOfItsComponents) {
  const auto pairs = [](const std::string& put, const std::string& last) {
    return rows_of_blocks(
        "__device__ float2 operator+(float2 a, float2 b) {\n"
        "  return make_float2(a.x + b.x, a.y + b.y);\n}\n",
        "__shared__ float2 pairs[4];\nfloat2 s = make_float2(0.0f, 0.0f);\n"
        "for (int i = threadIdx.x; i < n; i += blockDim.x) {\n"
        "  const float v = x[blockIdx.x * n + i];\n  s = s + " +
            put +
            ";\n}\n"
            "for (int d = 16; d > 0; d >>= 1) {\n"
            "  s.x += __shfl_xor_sync(~0u, s.x, d);\n  s.y += __shfl_xor_sync(~0u, s.y, d);\n}\n",
        "if (lane == 0) pairs[warp] = s;\n__syncthreads();\nfloat2 t = make_float2(0.0f, 0.0f);\n"
        "for (int w = 0; w < 4; ++w) t = t + pairs[w];\n" +
            last +
            "for (int i = threadIdx.x; i < 128; i += blockDim.x) y[blockIdx.x * 128 + i] = t.x / "
            "(t.y + 1.0f);\n");
  };
  auto kernel = pairs("make_float2(v, v * v)", "");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::string text = source::print(expect_correct(**kernel, {rows("64")}).unit.kernel.body);
  EXPECT_EQ(text.find("float2"), std::string::npos) << text;
  for (const char* last : {"t = make_float2(t.y, t.x);\n",
                           "if (threadIdx.x == 0) ((float2*)y)[blockIdx.x * 64] = t;\n"
                           "__syncthreads();\n"}) {
    auto other = pairs("make_float2(v, v * v)", last);
    ASSERT_TRUE(other.ok()) << other.error().message;
    expect_refusal(**other, rows("64"), "work together already");
  }
}

// Blocks that take rows in turn have one each in a grid that has a block for each row.
TEST(RowsInTurn, AreOneABlockInAGridOfAllRows) {
  const auto rows_in_turn = [](const std::string& grid) {
    return KernelCase::make(
        "__global__ void f(float* y, const float* x, const int* at, int rows, int n) {\n"
        "  for (long r = blockIdx.x; r < rows; r += gridDim.x) {\n"
        "    const float* from = x + (long)at[r] * n;\n"
        "    for (int i = threadIdx.x; i < n; i += blockDim.x) y[r * n + i] = from[i];\n  }\n}",
        "sizes: {rows: 64, n: 512}\nargs:\n  y: {dir: out, shape: [rows, n]}\n"
        "  x: {dir: in, shape: [rows, n]}\n"
        "  at: {dir: in, shape: [rows], init: \"int(0, rows - 1)\"}\n"
        "launch: {block: 128, grid: '" +
            grid + "'}\ntests: [{rows: 3, n: 300}, {rows: 1, n: 31}]\n");
  };
  auto all = rows_in_turn("rows");
  ASSERT_TRUE(all.ok()) << all.error().message;
  expect_correct(**all, {rows("64", "4")});
  auto half = rows_in_turn("cdiv(rows, 2)");
  ASSERT_TRUE(half.ok()) << half.error().message;
  expect_refusal(**half, rows("64"), "a row of its own");
}

// Nobody may read what another warp has put into shared memory before a barrier.
TEST(BlockExchanges, WithoutABarrierAreNone) {
  auto kernel = sum_of_rows(
      "float v = warp_sum(s);\nif (lane == 0) parts[warp] = v;\n__syncthreads();\n"
      "v = threadIdx.x < 4 ? parts[lane] : 0.0f;\nv = warp_sum(v);\n"
      "if (threadIdx.x == 0) y[blockIdx.x * 128] = v;\n");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {rows("64")});
  // The judge takes no such original, so the barrier goes behind its back.
  rewrite::KernelState racing = (*kernel)->original();
  source::Unit& unit = racing.unit;
  unit.kernel.body = source::rewrite_statements(
      unit.opened_kernel().body, [](const source::StmtPtr& stmt) -> std::optional<source::Block> {
        if (source::is<source::Barrier>(stmt)) return source::Block();
        return std::nullopt;
      });
  expect_refusal(**kernel, racing, rows("64"), "work together already");
}

// Whoever builds a node of an operand that is none refuses a step; the program goes on.
TEST(MissingOperand, IsAnErrorAtTheRewritersBorder) {
  EXPECT_THROW((void)source::add(source::integer(1), nullptr), source::MissingOperand);
  EXPECT_THROW((void)source::assign(source::variable("x"), nullptr), source::MissingOperand);
  EXPECT_THROW((void)source::call("f", {nullptr}), source::MissingOperand);
  EXPECT_THROW((void)source::scope({nullptr}), source::MissingOperand);
  const Status status = source::without_missing_operands(
      []() -> Status { return source::add(nullptr, nullptr) ? Status() : Status(); });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::internal);
  for (int type = 0; type <= static_cast<int>(ScalarType::f64); ++type)
    EXPECT_NE(source::zero_of(static_cast<ScalarType>(type)), nullptr);
}

// A block a group and an element a thread, as quantising functions have it: the largest magnitude
// by shuffles and shared memory.
Result<std::unique_ptr<KernelCase>> group_scale(const std::string& between = "",
                                                const std::string& assume = "{noalias: true}") {
  return KernelCase::make(
      "__device__ float block_max(float v) {\n  __shared__ float part[4];\n"
      "  for (int mask = 16; mask > 0; mask /= 2)\n"
      "    v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, mask));\n"
      "  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;\n  __syncthreads();\n"
      "  float result = part[0];\n  for (int warp = 1; warp < 4; ++warp)\n"
      "    result = fmaxf(result, part[warp]);\n  return result;\n}\n"
      "__global__ void f(const float* x, float* y, float* scales, int groups) {\n"
      "  const int group = blockIdx.y * groups + blockIdx.x;\n"
      "  const int at = group * 128 + threadIdx.x;\n  float v = x[at];\n" +
          between +
          "  const float largest = block_max(fmaxf(fabsf(v), 1e-10f));\n  y[at] = v / largest;\n"
          "  if (threadIdx.x == 0) scales[group] = largest;\n}\n",
      "sizes: {tokens: 64, groups: 8}\nargs: {x: {dir: in, shape: [tokens, groups, 128], init: "
      "normal}, y: {dir: out, shape: [tokens, groups, 128]}, scales: {dir: out, shape: [tokens, "
      "groups]}}\nlaunch: {block: 128, grid: [groups, tokens]}\ntests: [{tokens: 5, groups: 3}, "
      "{tokens: 1, groups: 1}]\nassume: " +
          assume + "\n");
}

TEST(ProductionSteps, RowsOfAnElementAThreadAreDealtOutAnew) {
  const auto kernel = group_scale();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = expect_correct(
      **kernel, {{"row_kernel", {{"threads", "32"}, {"rows", "4"}, {"width", "4"}}}});
  expect_text(source::print(state.unit), "float4");
}

TEST(ProductionSteps, RowsOfAnElementAThreadThatWouldHaveToBeKeptStay) {
  // Written in between, and changed by each thread for itself.
  for (const auto& kernel :
       {group_scale("  y[at] = v; v = y[at] + 1.0f;\n"),
        group_scale("  if (v > 1.0f) v = 1.0f / v;\n"), group_scale("", "{noalias: false}")}) {
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    const auto state = (*kernel)->apply((*kernel)->original(), "row_kernel",
                                        {{"threads", "32"}, {"rows", "4"}, {"width", "4"}});
    EXPECT_FALSE(state.ok()) << source::print(state->unit);
  }
}

}  // namespace
}  // namespace regraph::test::production_steps_test
