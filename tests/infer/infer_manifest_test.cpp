#include "infer/infer_manifest.h"

#include "source/clang_frontend.h"
#include "support/cuda.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::infer::infer_manifest_test {
namespace {

struct Inferred {
  KernelSignature signature;
  InferredManifest result;

  [[nodiscard]] const ManifestArgument& argument(const std::string& name) const {
    for (const auto& [known, one] : result.manifest.arguments) {
      if (known == name) return one;
    }
    ADD_FAILURE() << "nothing about " << name;
    return result.manifest.arguments.front().second;
  }
  [[nodiscard]] std::string length(const std::string& name) const {
    const auto& shape = argument(name).shape;
    return shape ? shape->front().text() : "unknown";
  }
  [[nodiscard]] std::string grid(std::size_t axis) const {
    return result.manifest.launch ? result.manifest.launch->grid[axis].text() : "unknown";
  }
};

Inferred infer(const std::string& source, const Manifest& given = {}) {
  const auto configuration = source::default_front_end(test::cuda_root(), "sm_90");
  EXPECT_TRUE(configuration.ok());
  const auto parsed = source::parse_kernel(source, "kernel.cu", "", *configuration);
  EXPECT_TRUE(parsed.ok()) << parsed.error().message;
  Inferred inferred;
  inferred.signature = parsed->signature;
  inferred.result = infer_manifest(given, parsed->signature, parsed->unit,
                                   source::find_host_launch(source, parsed->signature));
  return inferred;
}

TEST(InferManifest, ReadsGuardsInManyForms) {
  for (const char* guard :
       {"if (i >= n) return;", "if (!(i < n)) return;", "if (i > n - 1) return;",
        "if (!(n > i)) return;", "bool ok = i < n; if (!ok) return;",
        "const bool out = i >= n; if (out) return;", "int ok = i < n; if (!ok) return;",
        "bool low = i >= 0, high = i < n; bool ok = low && high; if (!ok) return;"}) {
    const Inferred inferred =
        infer(std::string("__global__ void f(const float* a, float* b, int n) {\n"
                          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n") +
              guard + "\n  b[i] = a[i];\n}\n");
    EXPECT_EQ(inferred.length("a"), "n") << guard;
    EXPECT_EQ(inferred.length("b"), "n") << guard;
    EXPECT_EQ(inferred.grid(0), "cdiv(n, bx)") << guard;
  }
}

TEST(InferManifest, ConditionsOfValuesThatChangeAreNotReadThroughTheirNames) {
  const Inferred inferred = infer(R"cuda(__global__ void f(const float* a, float* b, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool ok = i < n;
  i += m;
  if (ok) b[i] = a[i];
}
)cuda");
  EXPECT_EQ(inferred.length("b"), "m + n");
}

TEST(InferManifest, SaysWhichConditionsMayBoundTheGrid) {
  const auto inferred = [](const std::string& condition) {
    return infer(
        "__global__ void f(float* a, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
        condition + "  a[i] = 0;\n}\n");
  };
  const auto has_note = [](const Inferred& one, const std::string& text) {
    return std::ranges::any_of(one.result.notes, [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  };
  const Inferred none = inferred("");
  EXPECT_EQ(none.grid(0), "blocks");  // a size of its own
  EXPECT_FALSE(has_note(none, "give the launch"));
  const Inferred mixed = inferred("  if (i * i >= n + i) return;\n");
  EXPECT_EQ(mixed.grid(0), "blocks");
  EXPECT_TRUE(has_note(mixed, "there is 'i * i >= n + i' (line 3): give the launch"));
  const Inferred square = inferred("  if (i * i >= n - 1) return;\n");
  EXPECT_EQ(square.grid(0), "cdiv(n - 1, bx)");
  EXPECT_TRUE(has_note(square, "guessed from 'i * i >= n - 1' (line 3)"));
  const Inferred border = inferred("  if (i * i < 4 || i * i > n) return;\n");
  EXPECT_EQ(border.grid(0), "cdiv(n, bx)");
  // One comparison bounds one axis.
  const Inferred flat = infer(
      "__global__ void f(float* a, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x + blockIdx.y * gridDim.x * blockDim.x;\n"
      "  if (i * i >= n) return;\n  a[i] = 0;\n}\n");
  EXPECT_EQ(flat.grid(0), "cdiv(n, bx)");
  EXPECT_EQ(flat.grid(1), "blocks_y");
}

TEST(InferManifest, ReadsGuardsOfAMatrixProduct) {
  const Inferred inferred = infer(R"cuda(
__global__ void mm(const float* A, const float* B, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float s = 0;
  for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];
  C[row * N + col] = s;
}
)cuda");
  EXPECT_EQ(inferred.length("A"), "K * M");
  EXPECT_EQ(inferred.length("B"), "K * N");
  EXPECT_EQ(inferred.length("C"), "M * N");
  EXPECT_EQ(inferred.argument("A").direction, Direction::in);
  EXPECT_EQ(inferred.argument("C").direction, Direction::out);
  EXPECT_EQ(inferred.grid(0), "cdiv(N, bx)");
  EXPECT_EQ(inferred.grid(1), "cdiv(M, by)");
  EXPECT_EQ(inferred.result.manifest.launch->block, (Dim3{16, 16, 1}));
  EXPECT_EQ(inferred.result.manifest.sizes.at("K"), 4096);
  EXPECT_TRUE(inferred.result.unknown.empty());
}

TEST(InferManifest, TakesTheWholeFieldOfAStencil) {
  const Inferred inferred = infer(R"cuda(
__global__ void blur(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) b[i] = a[i - 1] + a[i] + a[i + 1];
}
)cuda");
  EXPECT_EQ(inferred.length("a"), "n");
  EXPECT_EQ(inferred.length("b"), "n");
  EXPECT_EQ(inferred.grid(0), "cdiv(n, bx)");
  EXPECT_EQ(inferred.result.manifest.bytes->text(), "4 * n + 4 * n");
}

TEST(InferManifest, SharedArraysGiveTheBlock) {
  const Inferred inferred = infer(R"cuda(
__global__ void t(const float* a, float* b, int n) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = a[y * n + x];
  __syncthreads();
  if (x < n && y < n) b[y * n + x] = tile[threadIdx.y][threadIdx.x];
}
)cuda");
  EXPECT_EQ(inferred.result.manifest.launch->block, (Dim3{32, 32, 1}));
  EXPECT_EQ(inferred.grid(0), "cdiv(n, bx)");
  EXPECT_EQ(inferred.length("a"), "n * n");
}

TEST(InferManifest, BlockPartialOutputsFollowTheGrid) {
  const Inferred inferred = infer(R"cuda(
__global__ void sum(const float* a, float* partial, int n) {
  __shared__ float s[128];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0.0f;
  __syncthreads();
  if (threadIdx.x == 0) partial[blockIdx.x] = s[0] + s[1];
}
)cuda");
  EXPECT_EQ(inferred.result.manifest.launch->block, (Dim3{128, 1, 1}));
  EXPECT_EQ(inferred.length("partial"), "cdiv(n, 128)");
}

TEST(InferManifest, AtomicsReadAndWrite) {
  const Inferred inferred = infer(R"cuda(
__global__ void add(const float* a, float* sum, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&sum[0], a[i]);
}
)cuda");
  EXPECT_EQ(inferred.argument("sum").direction, Direction::inout);
  EXPECT_EQ(inferred.length("sum"), "1");
}

TEST(InferManifest, SaysWhatItCannotKnow) {
  const Inferred inferred = infer(R"cuda(
__global__ void gather(const float* table, const int* at, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[at[i]];
}
)cuda");
  EXPECT_EQ(inferred.length("table"), "unknown");
  ASSERT_EQ(inferred.result.unknown.size(), 1u);
  EXPECT_EQ(inferred.result.unknown[0].first, "table");
  EXPECT_NE(inferred.result.unknown[0].second.find("line 4"), std::string::npos);
  EXPECT_EQ(inferred.length("at"), "n");
  EXPECT_FALSE(inferred.result.manifest.bytes.has_value());
}

TEST(InferManifest, DivisionsAndRemaindersHaveBounds) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* a, const float* bias, float* out, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i / 4] + bias[i % d];
}
)cuda");
  EXPECT_EQ(inferred.length("bias"), "d");
  EXPECT_EQ(inferred.length("a"), "(n - 1) / 4 + 1");
}

TEST(InferManifest, RowMajorIndicesSayTheShape) {
  // Nothing bounds the channel, and the window may read beyond the borders but for what is asked.
  const std::string head = R"cuda(
__global__ void f(const float* in, float* out, int N, int C, int H, int W, int stride,
                  int padding) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * H * W) return;
  int n = i / (H * W), h = i / W % H, w = i % W;
  int c = (i ^ 5) & C;
  int y = h * stride - padding, x = w * stride - padding;
  if (y < 0 || y >= H || x < 0 || x >= W) return;
)cuda";
  const Inferred nested = infer(head + "  out[i] = in[((n * C + c) * H + y) * W + x];\n}\n");
  const Symbols sizes = {{"N", 3}, {"C", 5}, {"H", 7}, {"W", 11}};
  const auto length = IntegerExpression::parse(nested.length("in"));
  ASSERT_TRUE(length.ok()) << nested.length("in");
  EXPECT_EQ(*length->evaluate(sizes), 3 * 5 * 7 * 11) << nested.length("in");
  // What is added first may be the row.
  const Inferred other = infer(head + "  out[i] = in[c + C * (x + W * (y + H * n))];\n}\n");
  EXPECT_EQ(*IntegerExpression::parse(other.length("in"))->evaluate(sizes), 3 * 5 * 7 * 11);
}

TEST(InferManifest, DigitsOfANumberAreBelowTheExtents) {
  // A grid-stride loop, digits one after the other, an index in a function of its own.
  const Inferred inferred = infer(R"cuda(
__device__ int place(int n, int c, int h, int w, int C, int H, int W) {
  return ((n * C + c) * H + h) * W + w;
}
__global__ void f(const float* in, float* out, int N, int C, int K, int H, int W) {
  const int total = N * K * H * W;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += blockDim.x * gridDim.x) {
    int rest = i;
    const int w = rest % W;
    rest /= W;
    const int h = rest % H;
    rest /= H;
    const int k = rest % K;
    rest /= K;
    float sum = 0.0f;
    for (int c = 0; c < C; ++c) sum += in[place(rest, c, h, w, C, H, W)];
    out[place(rest, k, h, w, K, H, W)] = sum;
  }
}
)cuda");
  EXPECT_EQ(inferred.length("in"), "C * H * N * W");
  EXPECT_EQ(inferred.length("out"), "H * K * N * W");
}

TEST(InferManifest, WhatIsSkippedBoundsTheRest) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* in, const float* weight, float* out, int N, int C, int H, int W,
                  int K, int stride, int padding) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * H * W) return;
  int x = i % W, y = i / W % H, n = i / W / H;
  int plane = H * W;
  float sum = 0.0f;
  for (int c = 0; c < C; ++c) {
    for (int ky = 0; ky < K; ++ky) {
      int row = y * stride - padding + ky;
      if ((unsigned)row >= (unsigned)H) continue;
      for (int kx = 0; kx < K; ++kx) {
        int column = x * stride - padding + kx;
        if (column < 0 || column >= W) continue;
        sum += in[n * C * plane + c * plane + row * W + column] * weight[(c * K + ky) * K + kx];
      }
    }
  }
  out[i] = sum;
}
)cuda");
  EXPECT_EQ(inferred.length("in"), "C * H * N * W");
  EXPECT_EQ(inferred.length("weight"), "C * K * K");
}

TEST(InferManifest, LimitsOfLoopsMayBeTheLesserOfTwo) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* in, float* out, int rows, int columns) {
  int first = blockIdx.x * 4;
  for (int r = first; r < min(first + 4, rows); ++r)
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
      out[r * columns + c] = in[r * columns + c];
}
)cuda");
  EXPECT_EQ(inferred.length("in"), "columns * rows");
}

constexpr const char* kGrouped = R"cuda(
__global__ void f(const float* in, const float* weight, float* out, int N, int C, int K, int L,
                  int groups) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= N * K * L) return;
  int l = i % L, k = i / L % K, n = i / L / K;
  int group = k / (K / groups);
  float sum = 0.0f;
  for (int c = 0; c < C / groups; ++c) {
    int channel = group * (C / groups) + c;
    sum += in[(n * C + channel) * L + l] * weight[k * (C / groups) + c];
  }
  out[i] = sum;
}
)cuda";

TEST(InferManifest, LengthsArePlainWhereThereIsOneGroup) {
  Manifest given;
  given.sizes["groups"] = 1;
  const Inferred inferred = infer(kGrouped, given);
  EXPECT_EQ(inferred.length("weight"), "C * K");
  EXPECT_EQ(std::ranges::count(inferred.result.notes, "lengths are those where groups == 1"), 1);
  // With several they are not.
  given.sizes["groups"] = 4;
  EXPECT_NE(infer(kGrouped, given).length("weight"), "C * K");
}

TEST(InferManifest, TestsHaveWholeGroups) {
  Manifest given;
  given.sizes["groups"] = 4;
  given.sizes["N"] = 8;
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* in, float* out, int N, int A, int B, int C, int D, int groups) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < N * A * B * (C / groups) * groups * D) out[i] = in[i];
}
)cuda",
                                  given);
  ASSERT_LE(inferred.result.manifest.sizes.at("C"), 32);
  ASSERT_FALSE(inferred.result.manifest.tests.empty());
  for (const Symbols& test : inferred.result.manifest.tests)
    EXPECT_EQ(test.at("C") % 4, 0) << test.at("C");
}

TEST(InferManifest, ManySmallSizesHaveTestsOfTheirOwn) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* in, float* out, int A, int B, int C, int D, int E) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < A * B * C * D * E) out[i] = in[i];
}
)cuda");
  ASSERT_LE(inferred.result.manifest.sizes.at("A"), 32);
  ASSERT_FALSE(inferred.result.manifest.tests.empty());
  for (const Symbols& test : inferred.result.manifest.tests) {
    for (const auto& [name, value] : test)
      EXPECT_LE(value, 9) << name;
  }
}

TEST(InferManifest, WhatIsGivenStays) {
  Manifest given;
  given.sizes["n"] = 77;
  given.launch = Launch{.kernel = "", .block = {64, 1, 1}};
  ManifestArgument argument;
  argument.direction = Direction::inout;
  argument.shape = std::vector<IntegerExpression>{IntegerExpression(1000)};
  given.arguments.emplace_back("a", argument);
  const Inferred inferred = infer(R"cuda(
__global__ void f(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}
)cuda",
                                  given);
  EXPECT_EQ(inferred.result.manifest.sizes.at("n"), 77);
  EXPECT_EQ(inferred.length("a"), "1000");
  EXPECT_EQ(inferred.argument("a").direction, Direction::inout);
  EXPECT_EQ(inferred.grid(0), "1");
  EXPECT_TRUE(inferred.result.notes.empty());
  EXPECT_FALSE(inferred.result.manifest.bytes.has_value());
}

TEST(InferManifest, TheHostsLaunchCounts) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = 1.0f;
}
#define LAUNCH void host(float* p) { f<<<(1000 + 127) / 128, 128>>>(p, 1000); }
)cuda");
  // Inside a macro is no launch.
  EXPECT_EQ(inferred.result.manifest.launch->block, (Dim3{256, 1, 1}));
}

TEST(InferManifest, AGridWithoutAGuardIsASizeOfItsOwn) {
  const Inferred inferred = infer(R"cuda(
__global__ void row_sums(const float* in, float* out, int columns) {
  float s = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) s += in[blockIdx.x * columns + c];
  atomicAdd(&out[blockIdx.x], s);
}
)cuda");
  EXPECT_EQ(inferred.grid(0), "blocks");
  EXPECT_EQ(inferred.length("in"), "blocks * columns");
  EXPECT_EQ(inferred.length("out"), "blocks");
  const Symbols& sizes = inferred.result.manifest.sizes;
  EXPECT_EQ(sizes.at("columns"), 4096);
  EXPECT_EQ(sizes.at("blocks"), 4096);
}

// One variable of the host for all sizes of a square product, and numbers for the block's extents:
// the guards say which size each axis follows.
TEST(InferManifest, GuardsTellSizesApartThatTheHostPassesAsOne) {
  const std::string kernel = R"cuda(
__global__ void mm(const float* a, const float* b, float* c, size_t M, size_t N, size_t K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float sum = 0;
    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + col];
    c[row * N + col] = sum;
  }
}
void run(float* a, float* b, float* c, int n) {
  const int tile = 16;
  dim3 block(tile, tile), grid((n + tile - 1) / tile, (n + tile - 1) / tile);
)cuda";
  const Inferred square = infer(kernel + "  mm<<<grid, block>>>(a, b, c, n, n, n);\n}\n");
  EXPECT_EQ(square.grid(0), "cdiv(N, bx)");
  EXPECT_EQ(square.grid(1), "cdiv(M, by)");
  // Where the host passes others the grid is the host's.
  const Inferred other = infer(kernel + "  mm<<<grid, block>>>(a, b, c, n, n / 2, n);\n}\n");
  EXPECT_EQ(other.grid(0), "cdiv(M, bx)");
}

TEST(InferManifest, AGridOfTheHostsIsNotCutToOurs) {
  const Inferred inferred = infer(R"cuda(
__global__ void twice(float* a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) a[i] *= 2;
}
void run(float* a, long count) {
  const unsigned int blocks = static_cast<unsigned int>((count + 255) / 256);
  twice<<<blocks, 256>>>(a, static_cast<int>(count));
}
)cuda");
  EXPECT_EQ(inferred.grid(0), "cdiv(n, bx)");
}

// A filter, its stride, padding and dilation are small, and so is what channels are divided by.
TEST(InferManifest, WindowsAndPartsAreSmall) {
  const Inferred inferred = infer(R"cuda(
__global__ void convolve(const float* x, const float* w, float* y, int channels, int outputs, int width,
                         int filter, int stride, int padding, int dilation, int groups) {
  int out_width = (width + 2 * padding - dilation * (filter - 1) - 1) / stride + 1;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs * out_width) return;
  int output = i / out_width, column = i % out_width;
  int per_group = channels / groups;
  float sum = 0;
  for (int c = 0; c < per_group; ++c) {
    for (int k = 0; k < filter; ++k) {
      int from = column * stride - padding + k * dilation;
      if (from >= 0 && from < width) sum += x[c * width + from] * w[(output * per_group + c) * filter + k];
    }
  }
  y[i] = sum;
}
)cuda");
  const Symbols& sizes = inferred.result.manifest.sizes;
  for (const char* small : {"filter", "stride", "padding", "dilation"})
    EXPECT_EQ(sizes.at(small), 3) << small;
  EXPECT_EQ(sizes.at("groups"), 4);
  EXPECT_GT(sizes.at("width"), 64);
  EXPECT_GE(sizes.at("channels"), 4);
  // A stencil's rows are no window.
  const Inferred stencil = infer(R"cuda(
__global__ void f(const float* x, float* y, int rows, int columns) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r > 0 && r < rows && c < columns)
    y[r * columns + c] = x[r * columns + c] - x[r * columns + c - columns];
}
)cuda");
  EXPECT_GT(stencil.result.manifest.sizes.at("columns"), 64);
}

TEST(InferManifest, WhatTheGridFollowsIsASizeAndNoStride) {
  const Inferred inferred = infer(R"cuda(
__global__ void means(const float* x, float* y, int images, int channels, int pixels) {
  int image = blockIdx.x, channel = blockIdx.y;
  float sum = 0;
  for (int i = 0; i < pixels; ++i) sum += x[(image * channels + channel) * pixels + i];
  y[image * channels + channel] = sum / pixels;
}
void run(float* x, float* y, int b, int c, int p) { means<<<dim3(b, c), 1>>>(x, y, b, c, p); }
)cuda");
  EXPECT_EQ(inferred.grid(1), "channels");
  EXPECT_TRUE(inferred.result.manifest.sizes.contains("channels"));
  EXPECT_EQ(inferred.length("y"), "channels * images");
}

TEST(InferManifest, TheHostsNamesMakeUpAGridWithoutAGuard) {
  const Inferred inferred = infer(R"cuda(
__global__ void twice(float* a) { a[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }
int number_of(const char* text);
void run(float* p, char** argv) {
  int count = number_of(argv[1]);
  twice<<<count / 128, 128>>>(p);
}
)cuda");
  EXPECT_EQ(inferred.grid(0), "count / 128");
  EXPECT_EQ(inferred.result.manifest.sizes.at("count"), 1 << 24);
  // A kernel's own parameter of the name is another thing.
  const Inferred own =
      infer("__global__ void k(float* a, int blocks) { a[blockIdx.x] = blocks; }\n");
  EXPECT_EQ(own.grid(0), "grid_blocks");
}

TEST(InferManifest, SharedMemoryIsTheHosts) {
  const Inferred inferred = infer(R"cuda(
__global__ void k(float* a, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = 1;
  if (i < n) a[i] = s[threadIdx.x];
}
int number_of(const char* text);
void run(float* p, int n, char** argv) {
  int padding = number_of(argv[2]);
  k<<<dim3(number_of(argv[1])), 128, (128 + padding) * sizeof(float)>>>(p, n);
}
)cuda");
  ASSERT_TRUE(inferred.result.manifest.launch.has_value());
  EXPECT_EQ(inferred.grid(0), "cdiv(n, bx)");
  EXPECT_EQ(inferred.result.manifest.launch->dynamic_shared_bytes.text(), "4 * (padding + 128)");
  EXPECT_LE(4 * (128 + inferred.result.manifest.sizes.at("padding")), 48 << 10);
}

TEST(InferManifest, NoGridIsMadeUpPastABufferOfTheUsers) {
  Manifest given;
  given.sizes["n"] = 100;
  ManifestArgument in;
  in.shape = std::vector<IntegerExpression>{IntegerExpression::symbol("n")};
  given.arguments.emplace_back("in", in);
  const Inferred inferred = infer(
      "__global__ void k(const float* in, float* out) { out[blockIdx.x] = in[blockIdx.x]; }\n",
      given);
  EXPECT_FALSE(inferred.result.manifest.launch.has_value());
  ASSERT_EQ(inferred.result.unknown.size(), 1u);
  EXPECT_NE(inferred.result.unknown.front().second.find("'in', which has 100 elements"),
            std::string::npos)
      << inferred.result.unknown.front().second;
}

TEST(InferManifest, AMadeUpGridKeepsWithinBounds) {
  const Inferred inferred = infer(
      "__global__ void k(float* a) { a[(blockIdx.y * gridDim.x + blockIdx.x) * 256 + threadIdx.x] "
      "= 1; }\n");
  const Symbols& sizes = inferred.result.manifest.sizes;
  EXPECT_EQ(inferred.grid(0), "blocks");
  EXPECT_EQ(inferred.grid(1), "blocks_y");
  EXPECT_LE(sizes.at("blocks") * sizes.at("blocks_y") * 256, 1 << 24);
  EXPECT_GE(sizes.at("blocks") * sizes.at("blocks_y") * 256, 1 << 22);
}

TEST(InferManifest, ReadsGuardsOfPartsOfAnIndex) {
  for (const char* guard :
       {"int r = i / n, c = i % n; if (r < m) b[r * n + c] = a[i];",
        "if (i / n >= m) return; b[i] = a[i];", "int r = i / n; if (m > r) b[i] = a[i];"}) {
    const Inferred inferred =
        infer(std::string("__global__ void f(const float* a, float* b, int m, int n) {\n"
                          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n") +
              guard + "\n}\n");
    EXPECT_EQ(inferred.grid(0), "cdiv(m * n, bx)") << guard;
    EXPECT_EQ(inferred.length("a"), "m * n") << guard;
  }
  const Inferred rows = infer(R"cuda(__global__ void f(float* b, int rows) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
  if (row < rows) b[row] = 0.0f;
}
)cuda");
  EXPECT_EQ(rows.length("b"), "rows");
  EXPECT_EQ(rows.grid(0), "cdiv(32 * rows, bx)");
}

TEST(InferManifest, ReadsGuardsOfGroupsOfElements) {
  const Inferred inferred = infer(R"cuda(__global__ void f(const float* a, float* b, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < n) {
    for (int k = 0; k < 4; ++k) b[i + k] = a[i + k];
  }
}
)cuda");
  EXPECT_EQ(inferred.length("a"), "n");
}

TEST(InferManifest, NamesOfTheKernelsOwnAreNotInLengths) {
  const Inferred inferred = infer(R"cuda(__global__ void f(const float* a, float* b, int n, int d) {
  const int half = (d + 1) / 2;
  const int pairs = n * half;
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pairs) b[i] = a[i];
}
)cuda");
  for (const std::string& text : {inferred.length("a"), inferred.grid(0)}) {
    EXPECT_EQ(text.find("half"), std::string::npos) << text;
    EXPECT_EQ(text.find("pairs"), std::string::npos) << text;
    EXPECT_NE(text.find("(d + 1) / 2"), std::string::npos) << text;
  }
}

TEST(InferManifest, GuardsMayAddAPartOfASize) {
  const Inferred inferred = infer(R"cuda(__global__ void f(const float* a, float* b, int n, int m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + m / 4;
  if (i < n) b[i] = a[i];
}
)cuda");
  EXPECT_EQ(inferred.length("a"), "n");
  EXPECT_EQ(inferred.grid(0), "cdiv(n - m / 4, bx)");
}

TEST(InferManifest, StridesAreThoseOfRowsOneBehindTheOther) {
  const Inferred two = infer(R"cuda(
__global__ void f(const float* a, float* b, int rows, int cols, int lda, int ldb) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows || c >= cols) return;
  const int from = r * lda + c;
  b[r * ldb + c] = a[from];
}
)cuda");
  EXPECT_EQ(two.length("a"), "cols * rows");
  EXPECT_EQ(two.argument("lda").value->text(), "cols");
  EXPECT_EQ(two.argument("ldb").value->text(), "cols");
  const Inferred three = infer(R"cuda(
__global__ void f(const float* a, float* b, int p, int q, long s0, long s1) {
  int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p && j < q) b[i * q + j] = a[i * s0 + j * s1];
}
)cuda");
  EXPECT_EQ(three.argument("s1").value->text(), "1");
  EXPECT_EQ(three.argument("s0").value->text(), "q");
  EXPECT_EQ(three.length("a"), "p * q");
  // Rows are numbered by a stride, too; what is the same for all threads is an offset.
  const Inferred numbered = infer(R"cuda(
__global__ void f(const float* a, float* b, int rows, int cols, int images, int step, int begin) {
  int c = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y, i = blockIdx.z;
  if (c < cols && r < rows && i < images)
    b[(i * step + r) * cols + c] = a[(i * rows + r) * cols + c + begin * cols];
}
)cuda");
  EXPECT_EQ(numbered.argument("step").value->text(), "rows");
  EXPECT_EQ(numbered.length("b"), "cols * images * rows");
  EXPECT_TRUE(numbered.result.manifest.sizes.contains("begin"));
  // A stride that a condition asks about is a size.
  const Inferred asked = infer(R"cuda(
__global__ void f(const float* a, float* b, int rows, int n) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, c = blockIdx.x * blockDim.x + threadIdx.x;
  if (r < rows && c < n) b[r * n + c] = a[r * n + c];
}
)cuda");
  EXPECT_EQ(asked.result.manifest.sizes.at("n"), 4096);
}

// A name that gets one index after another, and pointers into the buffer.
TEST(InferManifest, IndicesAreFollowedThroughNamesAndPointers) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* a, float* b, int rows, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int at;
  float sum = 0.0f;
  for (int r = 0; r < rows; ++r) {
    at = r * n + i;
    sum += a[at];
  }
  float* own = b + i;
  for (int r = 0; r < rows; ++r) {
    at = r * n;
    own[at] = sum;
  }
}
)cuda");
  EXPECT_EQ(inferred.length("a"), "n * rows");
  EXPECT_EQ(inferred.length("b"), "n * rows");
}

TEST(InferManifest, SizesOfOurOwnMakeNoGiantsOfLaunches) {
  const Inferred inferred = infer(R"cuda(
__global__ void f(const float* x, const float* w, float* y, int N, int C, int H, int W, int R) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int h = H - R + 1;
  if (i >= N * h * W) return;
  float s = 0.0f;
  for (int c = 0; c < C; ++c)
    for (int r = 0; r < R; ++r) s += x[((i / (h * W) * C + c) * H + i / W % h + r) * W + i % W] * w[r];
  y[i] = s;
}
)cuda");
  const Symbols& sizes = inferred.result.manifest.sizes;
  EXPECT_EQ(sizes.at("R"), 3);
  EXPECT_LE(sizes.at("N") * sizes.at("C") * sizes.at("H") * sizes.at("W"), 1 << 24);
  EXPECT_GE(sizes.at("N") * sizes.at("C") * sizes.at("H") * sizes.at("W"), 1 << 22);
}

}  // namespace
}  // namespace regraph::infer::infer_manifest_test
