// Convolutions of halves as products of matrices on tensor cores.
#include "rewrite/step_checks.h"

#include <fmt/format.h>

namespace regraph::test::implicit_gemm_test {
namespace {

// A convolution in two dimensions, a thread an output: x and y count pixels, z channels.
struct ConvolutionText {
  std::string type = "__half";
  std::string to_float = "__half2float";
  std::string from_float = "__float2half";
  std::string loops =
      "for (int c = 0; c < C; ++c)\n      for (int fy = 0; fy < 3; ++fy)\n"
      "        for (int fx = 0; fx < 3; ++fx) {\n";
  std::string places = "int iy = y + fy - 1;\n int ix = x + fx - 1;\n";
  std::string guard = "iy >= 0 && iy < H && ix >= 0 && ix < W";
  std::string in = "(n * C + c) * H * W + iy * W + ix";
  std::string filter = "((o * C + c) * 3 + fy) * 3 + fx";
  std::string filter_shape = "O * C * 9";
  std::string product;  // another one
  std::string use;
  std::string position =
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int n = blockIdx.z / O;\n  int o = blockIdx.z % O;\n";
  std::string inside = "x < W && y < H";
  std::string out = "((n * O + o) * H + y) * W + x";
  std::string launch = "{block: [16, 8], grid: ['cdiv(W, bx)', 'cdiv(H, by)', 'N * O']}";
  std::string in_shape = "N * C * H * W";
  std::string out_shape = "N * O * H * W";
  std::string init = "normal";
  std::string filter_init = "normal";
  std::string assume = "{noalias: true, reassociate: true}";
  std::string sizes = "{N: 8, O: 64, C: 32, H: 56, W: 56}";
  std::string tests =
      "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 70, C: 11, H: 9, W: 15}, "
      "{N: 1, O: 3, C: 1, H: 2, W: 5}";
};

Result<std::unique_ptr<KernelCase>> convolution(const ConvolutionText& text = {}) {
  const std::string header = text.type == "__half" ? "cuda_fp16.h" : "cuda_bf16.h";
  const std::string product = !text.product.empty()
                                  ? text.product
                                  : fmt::format("sum += {0}(in[{1}]) * {0}(filter[{2}]);",
                                                text.to_float, text.in, text.filter);
  return KernelCase::make(
      "#include <" + header + ">\n__global__ void convolution(const " + text.type + "* in, const " +
          text.type + "* filter, " + text.type + "* out, int N, int O, int C, int H, int W) {\n" +
          text.position + "  if (" + text.inside + ") {\n    float sum = 0.0f;\n    " + text.loops +
          text.places + (text.guard.empty() ? product : "if (" + text.guard + ") " + product) +
          "\n    }\n    " +
          (text.use.empty() ? "out[" + text.out + "] = " + text.from_float + "(sum);" : text.use) +
          "\n  }\n}",
      "sizes: " + text.sizes + "\nargs: {in: {dir: in, shape: ['" + text.in_shape + "'], init: '" +
          text.init + "'}, filter: {dir: in, shape: ['" + text.filter_shape + "'], init: '" +
          text.filter_init + "'}, out: {dir: inout, shape: ['" + text.out_shape + "']}}\nlaunch: " +
          text.launch + "\nassume: " + text.assume + "\ntests: [" + text.tests + "]\n");
}

Application gemm(const char* tile = "64x128") {
  return {"implicit_gemm", {{"tile", tile}}};
}

std::string code_of(const KernelCase& kernel, const Application& step = gemm()) {
  return source::print(expect_correct(kernel, {step}).unit);
}

// Chunks are eight channels where the sizes that count have multiples of them; other sizes are
// right as well.
TEST(ImplicitGemm, ComputesAPaddedConvolution) {
  ConvolutionText text;
  text.sizes = "{N: 8, O: 256, C: 32, H: 56, W: 56}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  for (const char* tile : {"64x128", "128x128", "32x256", "256x128"}) {
    SCOPED_TRACE(tile);
    const std::string code = code_of(**kernel, gemm(tile));
    expect_text(code, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    // What neighbours store lies together, although the kernel counted them along two axes.
    expect_text(code, "*(uint4*)&to[");
  }
}

TEST(ImplicitGemm, CountsInTheLoopsOrderWhereChannelsAreFew) {
  ConvolutionText text;
  text.sizes = "{N: 8, O: 64, C: 3, H: 56, W: 56}";
  text.tests = "{N: 2, O: 40, C: 3, H: 13, W: 19}, {N: 1, O: 70, C: 8, H: 9, W: 15}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  // Filters lie along k, and are aligned where channels are a multiple of eight.
  expect_text(code_of(**kernel), "cp.async.cg");
}

TEST(ImplicitGemm, TakesBfloat16) {
  ConvolutionText text;
  text.type = "__nv_bfloat16";
  text.to_float = "__bfloat162float";
  text.from_float = "__float2bfloat16";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(code_of(**kernel), "f32.bf16.bf16.f32");
}

TEST(ImplicitGemm, TakesStridesAndDilation) {
  ConvolutionText text;
  text.places = "int iy = 2 * y + 3 * fy - 2;\n int ix = 2 * x + 3 * fx - 2;\n";
  text.guard = "iy >= 0 && iy < 2 * H && ix >= 0 && ix < 2 * W";
  text.in = "((n * C + c) * 2 * H + iy) * 2 * W + ix";
  text.in_shape = "4 * N * C * H * W";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// Every filter meets its input the other way round, and only where a stride divides the place.
TEST(ImplicitGemm, TakesTransposedConvolutions) {
  ConvolutionText text;
  text.places = "int sy = y + 1 - fy;\n int sx = x + 1 - fx;\n";
  text.guard =
      "sy >= 0 && sx >= 0 && sy % 2 == 0 && sx % 2 == 0 && sy / 2 < H / 2 && sx / 2 < W / 2";
  text.in = "((n * C + c) * (H / 2) + sy / 2) * (W / 2) + sx / 2";
  text.in_shape = "N * C * (H / 2) * (W / 2)";
  text.filter = "((c * O + o) * 3 + fy) * 3 + fx";
  text.tests = "{N: 2, O: 40, C: 16, H: 14, W: 18}, {N: 1, O: 70, C: 11, H: 8, W: 16}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// A row of results is one of the image then.
TEST(ImplicitGemm, TakesOneDimension) {
  ConvolutionText text;
  text.loops = "for (int c = 0; c < C; ++c)\n      for (int fx = 0; fx < 3; ++fx) {\n";
  text.places = "int ix = x + fx - 1;\n";
  text.guard = "ix >= 0 && ix < W";
  text.in = "(n * C + c) * W + ix";
  text.in_shape = "N * C * W";
  text.filter = "(o * C + c) * 3 + fx";
  text.position =
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int o = blockIdx.y * blockDim.y + threadIdx.y;\n  int n = blockIdx.z;\n";
  text.inside = "o < O && x < W";
  text.out = "(n * O + o) * W + x";
  text.out_shape = "N * O * W";
  text.launch = "{block: [32, 8], grid: ['cdiv(W, bx)', 'cdiv(O, by)', N]}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// Planes are counted with images and channels.
TEST(ImplicitGemm, TakesThreeDimensions) {
  ConvolutionText text;
  text.loops =
      "for (int c = 0; c < C; ++c)\n      for (int fz = 0; fz < 2; ++fz)\n"
      "       for (int fy = 0; fy < 2; ++fy)\n        for (int fx = 0; fx < 2; ++fx) {\n";
  text.places = "int iz = z + fz;\n int iy = y + fy;\n int ix = x + fx;\n";
  text.guard = "";
  text.in = "(((n * C + c) * 4 + iz) * (H + 1) + iy) * (W + 1) + ix";
  text.in_shape = "N * C * 4 * (H + 1) * (W + 1)";
  text.filter = "(((o * C + c) * 2 + fz) * 2 + fy) * 2 + fx";
  text.position =
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int n = blockIdx.z / (3 * O);\n  int z = blockIdx.z / O % 3;\n  int o = blockIdx.z % O;\n";
  text.out = "(((n * O + o) * 3 + z) * H + y) * W + x";
  text.out_shape = "N * O * 3 * H * W";
  text.launch = "{block: [16, 8], grid: ['cdiv(W, bx)', 'cdiv(H, by)', '3 * N * O']}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// Channels last: chunks of both factors are vectors.
TEST(ImplicitGemm, CopiesChannelsThatLieTogether) {
  ConvolutionText text;
  text.in = "((n * H + iy) * W + ix) * C + c";
  text.filter = "((o * 3 + fy) * 3 + fx) * C + c";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const std::string code = code_of(**kernel);
  expect_text(code, "in_aligned");
  expect_text(code, "filter_aligned");
}

// Pixels along one axis already, and output channels along the other one.
TEST(ImplicitGemm, TakesFlatPixels) {
  ConvolutionText text;
  text.position =
      "  int p = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int o = blockIdx.y * blockDim.y + threadIdx.y;\n"
      "  int n = blockIdx.z;\n  int y = p / W;\n  int x = p % W;\n";
  text.inside = "p < H * W && o < O";
  text.out = "(n * O + o) * H * W + p";
  text.launch = "{block: [16, 16], grid: ['cdiv(H * W, bx)', 'cdiv(O, by)', 'N']}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(code_of(**kernel), "*(uint4*)&to[");
}

// One number a thread, taken apart in either way that people do.
TEST(ImplicitGemm, TakesFlatThreads) {
  for (const char* channel : {"i / (H * W) % O", "i % (O * H * W) / (H * W)"}) {
    SCOPED_TRACE(channel);
    ConvolutionText text;
    text.position =
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  int n = i / (O * H * W);\n"
        "  int o = " +
        std::string(channel) + ";\n  int y = i % (H * W) / W;\n  int x = i % W;\n";
    text.inside = "i < N * O * H * W";
    text.out = "i";
    text.launch = "{block: 256, grid: 'cdiv(N * O * H * W, bx)'}";
    auto kernel = convolution(text);
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    code_of(**kernel);
  }
}

// An image and an element of it first, and voxels along three axes of that.
TEST(ImplicitGemm, TakesFlatElementsOfVolumes) {
  const auto kernel = KernelCase::make(R"~(
#include <cuda_fp16.h>
__global__ void convolution(const __half* in, const __half* filter, __half* out, int N, int C, int O,
                            int D, int H, int W) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int elements = O * D * H * W;
  int n = i / elements;
  int element = i % elements;
  if (n >= N || element >= elements) return;
  int o = element / (D * H * W);
  int z = element % (D * H * W) / (H * W);
  int y = element % (H * W) / W;
  int x = element % W;
  float sum = 0.0f;
  for (int k = 0; k < C * 27; ++k) {
    int c = k / 27, fz = k % 27 / 9, fy = k % 9 / 3, fx = k % 3;
    int iz = z + fz - 1, iy = y + fy - 1, ix = x + fx - 1;
    if (iz >= 0 && iz < D && iy >= 0 && iy < H && ix >= 0 && ix < W)
      sum += __half2float(in[(((n * C + c) * D + iz) * H + iy) * W + ix]) *
             __half2float(filter[o * C * 27 + k]);
  }
  out[i] = __float2half(sum);
})~",
                                       R"~(
sizes: {N: 8, C: 16, O: 64, D: 16, H: 32, W: 32}
args:
  in: {dir: in, shape: [N, C, D, H, W], init: normal}
  filter: {dir: in, shape: [O, C, 27], init: normal}
  out: {dir: inout, shape: [N, O, D, H, W]}
launch: {block: 256, grid: 'cdiv(N * O * D * H * W, bx)'}
assume: {noalias: true, reassociate: true}
tests:
  - {N: 2, C: 4, O: 20, D: 3, H: 5, W: 11}
  - {N: 1, C: 3, O: 70, D: 2, H: 3, W: 9}
)~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// One group, as the bench has it, is one product; a kernel of several stays what it is.
TEST(ImplicitGemm, TakesOneOfManyGroups) {
  const auto kernel = KernelCase::make(R"~(
#include <cuda_fp16.h>
__global__ void convolution(const __half* in, const __half* filter, __half* out, int N, int C, int O,
                            int H, int W, int K, int groups, int stride) {
  int n = blockIdx.z;
  int o = blockIdx.y * blockDim.y + threadIdx.y;
  int pixel = blockIdx.x * blockDim.x + threadIdx.x;
  int OH = (H - K) / stride + 1, OW = (W - K) / stride + 1;
  if (o >= O || pixel >= OH * OW) return;
  int y = pixel / OW, x = pixel % OW;
  int group = o / (O / groups);
  int first = group * (C / groups);
  int last = first + C / groups;
  float sum = 0.0f;
  for (int c = first; c < last; ++c) {
    int own = c - first;
    for (int fy = 0; fy < K; ++fy)
      for (int fx = 0; fx < K; ++fx)
        sum += __half2float(in[((n * C + c) * H + y * stride + fy) * W + x * stride + fx]) *
               __half2float(filter[((o * (C / groups) + own) * K + fy) * K + fx]);
  }
  out[((n * O + o) * OH + y) * OW + x] = __float2half(sum);
})~",
                                       R"~(
sizes: {N: 8, C: 32, O: 64, H: 58, W: 58, K: 3, groups: 1, stride: 1}
args:
  in: {dir: in, shape: [N, C, H, W], init: normal}
  filter: {dir: in, shape: [O, 'C / groups', K, K], init: normal}
  out: {dir: inout, shape: [N, O, '(H - K) / stride + 1', '(W - K) / stride + 1']}
launch: {block: [16, 8], grid: ['cdiv(((H - K) / stride + 1) * ((W - K) / stride + 1), bx)', 'cdiv(O, by)', N]}
assume: {noalias: true, reassociate: true}
tests:
  - {N: 2, C: 16, O: 40, H: 15, W: 21, K: 3, groups: 1, stride: 1}
  - {N: 2, C: 6, O: 40, H: 15, W: 21, K: 3, groups: 2, stride: 1}
  - {N: 1, C: 6, O: 9, H: 15, W: 21, K: 2, groups: 3, stride: 2}
  - {N: 1, C: 7, O: 70, H: 9, W: 15, K: 3, groups: 1, stride: 2}
)~");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(code_of(**kernel), "if (groups == 1 && stride == 1) {");
}

TEST(ImplicitGemm, TakesAChoiceOfZero) {
  ConvolutionText text;
  text.guard = "";
  text.product = "float value = " + std::string("iy >= 0 && iy < H && ix >= 0 && ix < W") +
                 " ? __half2float(in[" + text.in +
                 "]) : 0.0f;\n sum += value * __half2float(filter[" + text.filter + "]);";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

// A zero times an infinite filter is no number, where the original skips the product.
TEST(ImplicitGemm, SkipsWhatTheOriginalSkips) {
  ConvolutionText text;
  text.init = "ones";
  text.filter_init = "constant(inf)";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_text(code_of(**kernel), "== staged[");
  ConvolutionText whole;
  whole.guard = "";
  whole.in = "((n * C + c) * (H + 2) + iy + 1) * (W + 2) + ix + 1";
  whole.in_shape = "N * C * (H + 2) * (W + 2)";
  auto inside = convolution(whole);
  ASSERT_TRUE(inside.ok()) << inside.error().message;
  expect_no_text(code_of(**inside), "== staged[");
}

// Threads past the end of a row of results do something else: rows do not end there.
TEST(ImplicitGemm, KeepsWhatThreadsOfOtherGuardsStore) {
  ConvolutionText text;
  text.position +=
      "  if (x < W + 1 && y < H && o == 0 && n == 0 && x == W) out[y] = __half(1.0f);\n";
  text.out_shape = "N * O * H * W + H";
  text.out = "H + ((n * O + o) * H + y) * W + x";
  text.launch = "{block: [16, 8], grid: ['cdiv(W + 1, bx)', 'cdiv(H, by)', 'N * O']}";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "how many threads there are along an axis is not known");
}

TEST(ImplicitGemm, DoesWithTheSumWhatTheKernelDoes) {
  ConvolutionText text;
  text.use = "out[" + text.out + "] = __float2half(fmaxf(sum + 0.5f * __half2float(out[" +
             text.out + "]), 0.0f));";
  auto kernel = convolution(text);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  code_of(**kernel);
}

TEST(ImplicitGemm, RefusesWhatIsNoSuchProduct) {
  ConvolutionText half_sums;
  half_sums.product =
      "sum += __half2float(__hmul(in[" + half_sums.in + "], filter[" + half_sums.filter + "]));";
  auto kernel = convolution(half_sums);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "no products of two elements");

  ConvolutionText kept;
  kept.assume = "{noalias: true, reassociate: false}";
  kernel = convolution(kept);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "reassociate");

  // A filter for each pixel.
  ConvolutionText local;
  local.filter = "((o * C + c) * 3 + fy) * 3 + (fx + x) % 3";
  kernel = convolution(local);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "a block computes several products");

  // Where a window begins stands in memory.
  ConvolutionText looked_up;
  looked_up.places =
      "int iy = y + (int)__half2float(filter[fy]) * 0 + fy - 1;\n int ix = x + fx - 1;\n";
  kernel = convolution(looked_up);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "a guard reads memory");

  // Channels of their own: nothing is shared.
  ConvolutionText depthwise;
  depthwise.in = "(n * C + o % C) * H * W + iy * W + ix";
  kernel = convolution(depthwise);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "axis of the grid");

  // The window grows with the pixel.
  ConvolutionText triangle;
  triangle.loops =
      "for (int c = 0; c < C; ++c)\n      for (int fy = 0; fy < y % 3 + 1; ++fy)\n"
      "        for (int fx = 0; fx < 3; ++fx) {\n";
  kernel = convolution(triangle);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, gemm(), "a block computes several products");
}

// Whose rows other steps copy sixteen bytes at a time; where they cannot, this one gathers.
TEST(ImplicitGemm, LeavesMatricesToTheProductSteps) {
  const auto product = [](const std::string& sizes) {
    return KernelCase::make(
        "#include <cuda_fp16.h>\n"
        "__global__ void f(const __half* a, const __half* b, __half* c, int M, int N, int K) {\n"
        "  int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  int i = blockIdx.y * blockDim.y + threadIdx.y;\n"
        "  if (i >= M || j >= N) return;\n  float sum = 0.0f;\n"
        "  for (int k = 0; k < K; ++k)\n"
        "    sum += __half2float(a[i * K + k]) * __half2float(b[k * N + j]);\n"
        "  c[i * N + j] = __float2half(sum);\n}",
        "sizes: " + sizes +
            "\nargs: {a: {dir: in, shape: [M, K]}, b: {dir: in, shape: [K, N]},\n"
            "       c: {dir: out, shape: [M, N]}}\n"
            "launch: {block: [16, 16], grid: ['cdiv(N, 16)', 'cdiv(M, 16)']}\n"
            "tests: [{M: 70, N: 50, K: 45}, {M: 64, N: 128, K: 32}, {M: 1, N: 1, K: 1}]\n");
  };
  const auto aligned = product("{M: 512, N: 512, K: 512}");
  ASSERT_TRUE(aligned.ok()) << aligned.error().message;
  expect_refusal(**aligned, gemm(), "a product of matrices");
  const auto odd = product("{M: 512, N: 511, K: 513}");
  ASSERT_TRUE(odd.ok()) << odd.error().message;
  expect_text(code_of(**odd), "mma.sync");
}

TEST(ImplicitGemm, RefusesTilesThatAreHalfEmpty) {
  auto kernel = convolution();
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, (*kernel)->original(), gemm("128x128"),
                 "a tile of 128 rows is half empty, the product has 64");
}

// What tells a tile that loads its inputs once for all taps.
constexpr const char* kHalo = "thread_again";

// Whether the kernel's tiles do, which are right in any case.
bool has_halo(const ConvolutionText& text) {
  auto kernel = convolution(text);
  EXPECT_TRUE(kernel.ok()) << kernel.error().message;
  return kernel.ok() && code_of(**kernel).find(kHalo) != std::string::npos;
}

// u = stride * y + dilation * fy, as the kernel writes it.
struct HaloCase {
  const char* name;
  const char* places;
  const char* guard;
  const char* in;
  const char* in_shape;
};

const HaloCase kHalos[] = {
    {"strided", "int iy = 2 * y + fy - 1;\n int ix = 2 * x + fx - 1;\n",
     "iy >= 0 && iy < 2 * H && ix >= 0 && ix < 2 * W", "((n * C + c) * 2 * H + iy) * 2 * W + ix",
     "4 * N * C * H * W"},
    {"apart", "int iy = y + fy;\n int ix = 4 * x + fx;\n", "",
     "((n * C + c) * (H + 2) + iy) * 4 * W + ix", "4 * N * C * (H + 2) * W"},
    {"dilated", "int iy = y + 2 * fy - 2;\n int ix = x + 3 * fx - 3;\n",
     "iy >= 0 && iy < H && ix >= 0 && ix < W", "((n * C + c) * H + iy) * W + ix", "N * C * H * W"},
    {"transposed", "int iy = y + 1 - fy;\n int ix = x + 1 - fx;\n",
     "iy >= 0 && iy < H && !(ix < 0 || ix >= W)", "((n * C + c) * H + iy) * W + ix",
     "N * C * H * W"},
    {"rows only", "int iy = y;\n int ix = x + fx + 3 * fy;\n", "",
     "((n * C + c) * H + iy) * (W + 8) + ix", "N * C * H * (W + 8)"},
};

TEST(ImplicitGemm, LoadsInputsOnceForAllTaps) {
  for (const HaloCase& one : kHalos) {
    SCOPED_TRACE(one.name);
    ConvolutionText text;
    text.places = one.places;
    text.guard = one.guard;
    text.in = one.in;
    text.in_shape = one.in_shape;
    text.tests = "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 3, C: 11, H: 2, W: 5}";
    EXPECT_TRUE(has_halo(text));
  }
}

// Filters whose channels are apart, and channels last: both are copied otherwise, or loaded.
TEST(ImplicitGemm, LoadsFiltersAsTheyLie) {
  for (const char* filter : {"(c * O + o) * 9 + fy * 3 + fx", "(o * C + c) * 9 + 8 - fy * 3 - fx",
                             "(o * C + c) * 9 + fx * 3 + fy", "((o * 3 + fy) * 3 + fx) * C + c"}) {
    SCOPED_TRACE(filter);
    ConvolutionText text;
    text.filter = filter;
    text.tests = "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 3, C: 11, H: 2, W: 5}";
    EXPECT_TRUE(has_halo(text));
  }
}

// Places of a filter lie behind those of the last one, as if those were taps that do not overlap.
TEST(ImplicitGemm, TakesFiltersForNoInputs) {
  ConvolutionText text;
  text.product = "sum += __half2float(filter[(c * O + o) * 9 + fy * 3 + fx]) * __half2float(in[" +
                 text.in + "]);";
  text.tests = "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 3, C: 11, H: 2, W: 5}";
  EXPECT_TRUE(has_halo(text));
}

TEST(ImplicitGemm, LoadsInputsOnceAlongOneAxis) {
  ConvolutionText text;
  text.loops = "for (int c = 0; c < C; ++c)\n        for (int fx = 0; fx < 9; ++fx) {\n";
  text.places = "int ix = x + fx - 4;\n";
  text.guard = "ix >= 0 && ix < W";
  text.in = "(n * C + c) * W + ix";
  text.in_shape = "N * C * W";
  text.filter = "(o * C + c) * 9 + fx";
  text.position =
      "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  int n = blockIdx.z / O;\n  int o = blockIdx.z % O;\n";
  text.inside = "x < W";
  text.out = "(n * O + o) * W + x";
  text.out_shape = "N * O * W";
  text.launch = "{block: [64], grid: ['cdiv(W, bx)', 1, 'N * O']}";
  text.sizes = "{N: 8, O: 64, C: 32, H: 1, W: 4096}";
  text.tests = "{N: 2, O: 40, C: 16, H: 1, W: 219}, {N: 1, O: 3, C: 11, H: 1, W: 5}";
  EXPECT_TRUE(has_halo(text));
}

TEST(ImplicitGemm, TakesWideWindows) {
  ConvolutionText text;
  text.loops = "for (int c = 0; c < C; ++c)\n        for (int fx = 0; fx < 18; ++fx) {\n";
  text.places = "int iy = y;\n int ix = x + fx;\n";
  text.guard = "";
  text.in = "((n * C + c) * H + iy) * (W + 17) + ix";
  text.in_shape = "N * C * H * (W + 17)";
  text.filter = "(o * C + c) * 18 + fx";
  text.filter_shape = "O * C * 18";
  text.tests = "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 3, C: 11, H: 2, W: 5}";
  EXPECT_TRUE(has_halo(text));
}

// A position that needs an input may be stopped while a larger one is not; an input is not told by
// position and tap together; or conditions know more than the input.
TEST(ImplicitGemm, LoadsInputsForEachTapWhereTheyDiffer) {
  ConvolutionText text;
  text.tests = "{N: 2, O: 40, C: 16, H: 13, W: 19}, {N: 1, O: 3, C: 11, H: 2, W: 5}";
  for (const char* inside : {"x < W && y < H && x >= 3", "x < W && y < H && x + y != 4"}) {
    SCOPED_TRACE(inside);
    ConvolutionText other = text;
    other.inside = inside;
    EXPECT_FALSE(has_halo(other));
  }
  text.guard += " && (fy != 1 || y < 7)";
  EXPECT_FALSE(has_halo(text));
}

}  // namespace
}  // namespace regraph::test::implicit_gemm_test
