#include "rewrite/analysis/strip_loop.h"

#include "rewrite/step_checks.h"

namespace regraph::test::strip_loop_test {
namespace {

// A block of 32 threads that stages 32 elements of `a` a strip; the loop's parts and what stands
// around it are the test's.
struct Strips {
  std::string before = {};
  std::string header = "for (int k = 0; k < n; k += 32)";
  std::string copy = "tile[t] = k + t < n ? a[k + t] : 0.0f;";
  std::string use = "for (int i = 0; i < 32; ++i) sum += tile[i];";
  std::string after = {};
  std::string parameters = "const float* a, float* b, int* c, int n";
};

Result<std::unique_ptr<KernelCase>> kernel_of(const Strips& strips) {
  const std::string direction = strips.parameters.starts_with("const") ? "in" : "inout";
  return KernelCase::make(
      "__global__ void f(" + strips.parameters +
          ") {\n  __shared__ float tile[64];\n"
          "  int t = threadIdx.x;\n  float sum = 0.0f;\n  " +
          strips.before + "\n  " + strips.header + " {\n    " + strips.copy +
          "\n    __syncthreads();\n    " + strips.use + "\n    __syncthreads();\n  }\n  " +
          strips.after + "\n  b[t] = sum;\n}",
      "sizes: {n: 256}\nargs: {a: {dir: " + direction +
          ", shape: [512]}, b: {dir: inout, shape: [32]},\n"
          "  c: {dir: inout, shape: [4], init: 'constant(100)'}}\nlaunch: {block: 32, grid: 1}\n"
          "tests: [{n: 100}, {n: 64}, {n: 1}]\n");
}

void expect_two_tiles(const Strips& strips) {
  auto kernel = kernel_of(strips);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_correct(**kernel, {{"double_buffer", {}}});
}

void expect_one_tile(const Strips& strips, const std::string& reason) {
  auto kernel = kernel_of(strips);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_refusal(**kernel, {"double_buffer", {}}, reason);
}

TEST(StripLoop, TakesCopiesOfSeveralShapes) {
  expect_two_tiles({});
  expect_two_tiles(
      {.copy = "for (int u = 0; u < 2; ++u) {\n float v = 0.0f;\n"
               " if (k + t + 32 * u < n) v = a[k + t + 32 * u];\n tile[t + 32 * u] = v;\n}"});
  expect_two_tiles({.copy = "if (k + t < n) tile[t] = a[k + t]; else tile[t] = 0.0f;"});
  // Where a thread puts its element is no polynomial, but the same in all strips.
  expect_two_tiles({.copy = "tile[(t / 4) * 4 + t % 4] = k + t < n ? a[k + t] : 0.0f;"});
  expect_two_tiles({.copy = "int place = k + t;\n tile[place - k] = place < n ? a[place] : 0.0f;"});
  expect_two_tiles(
      {.use = "const float* row = &tile[0];\n for (int i = 0; i < 32; ++i) sum += row[i];"});
}

TEST(StripLoop, SomeThreadsMayCopyNothing) {
  const std::string first = "for (int i = 0; i < 16; ++i) sum += tile[i];";
  expect_two_tiles({.copy = "if (t < 16) tile[t] = k + t < n ? a[k + t] : 0.0f;", .use = first});
  expect_two_tiles({.copy =
                        "for (int u = 0; u < 1; ++u) {\n int place = t + 32 * u;\n"
                        " if (place < 16) tile[place] = k + place < n ? a[k + place] : 0.0f;\n}",
                    .use = first});
}

// The last strip would find what the one before it left.
TEST(StripLoop, WhichThreadsCopyIsTheSameInAllStrips) {
  for (const char* copy : {"if (k + t < n) tile[t] = a[k + t];",
                           "bool inside = k + t < n;\n if (inside) tile[t] = a[k + t];",
                           "for (int u = t; u < min(32, n - k); u += 32) tile[u] = a[k + u];"}) {
    SCOPED_TRACE(copy);
    expect_one_tile({.before = "tile[t] = 0.0f;\n __syncthreads();", .copy = copy}, "");
    expect_one_tile({.copy = copy},
                    "which elements of 'tile' are filled differs from strip to strip");
  }
}

TEST(StripLoop, ThreadsMayHaveNoWorkInAStrip) {
  expect_two_tiles({.header = "for (int k = 0; k < n + 32; k += 32)",
                    .copy = "if (k < n) tile[t] = k + t < n ? a[k + t] : 0.0f;",
                    .use = "if (k < n) for (int i = 0; i < 32; ++i) sum += tile[i];"});
  expect_one_tile({.before = "int end = n;",
                   .copy = "if (k < end) tile[t] = k + t < n ? a[k + t] : 0.0f;",
                   .use = "if (k < end) { sum += tile[31 - t]; end = end - 1; }"},
                  "'end' is changed between two copies");
}

TEST(StripLoop, StandsInAnotherLoop) {
  expect_two_tiles(
      {.header = "for (int round = 0; round < 3; ++round) for (int k = 0; k < n; k += 32)"});
}

TEST(StripLoop, TilesAreOfTheLoopAlone) {
  expect_one_tile({.after = "sum += tile[(t + 1) % 32];"}, "'tile' is used outside of the loop");
  expect_one_tile(
      {.before = "tile[t + 32] = a[t];\n __syncthreads();", .use = "sum += tile[(t + 1) % 64];"},
      "'tile' is used outside of the loop");
}

TEST(StripLoop, CopiesReadWhatNothingWrites) {
  expect_one_tile({.use = "sum += tile[31 - t];\n a[k + t] = sum;",
                   .parameters = "float* a, float* b, int* c, int n"},
                  "'a' is copied, and written in the kernel");
  expect_one_tile({.before = "int skip = 0;",
                   .copy = "tile[t] = a[k + t + skip];",
                   .use = "sum += tile[31 - t];\n if (sum > 3.0f) skip = 5;"},
                  "'skip' is changed between two copies");
  expect_one_tile({.copy = "tile[t] = k > 0 ? tile[t] + a[k + t] : a[k + t];"},
                  "read shared memory");
  expect_one_tile(
      {.copy = "float v = 0.0f;\n if (k > 0 && tile[t] > 0.5f) v = a[k + t];\n tile[t] = v;"},
      "read shared memory");
  expect_one_tile({.copy = "tile[t] += a[k + t];"}, "read shared memory");
}

TEST(StripLoop, NothingOfTheCopiesIsNeededLater) {
  expect_one_tile(
      {.copy = "float own = a[k + t];\n tile[t] = own;", .use = "sum += tile[31 - t] * own;"},
      "'own' is needed after the copies");
}

// Every strip adds to what the tile holds: with two tiles, each would hold half of it.
TEST(StripLoop, StripsThatFillDifferentPlacesKeepOneTile) {
  for (const char* copy :
       {"tile[(k + t) % 64] = a[k + t];", "tile[(k & 32) + t] = a[k + t];",
        "int half = k / 32 % 2;\n tile[half * 32 + t] = a[k + t];",
        "int place = 0;\n if (k % 64 > 0) place = 32;\n tile[place + t] = a[k + t];",
        "tile[c[k / 32 % 4] % 2 * 32 + t] = a[k + t];"}) {
    SCOPED_TRACE(copy);
    expect_one_tile(
        {.copy = copy, .use = "for (int i = 0; i < 64; ++i) sum += i < k + 32 ? tile[i] : 0.0f;"},
        "which elements of 'tile' are filled differs from strip to strip");
  }
  expect_one_tile({.copy = "tile[(k + t) % 64] = a[k + t];"},
                  "which elements of 'tile' are filled differs from strip to strip");
}

TEST(StripLoop, TheEndOfTheLoopStaysWhereItIs) {
  expect_one_tile({.before = "int end = n;",
                   .header = "for (int k = 0; k < end; k += 32)",
                   .use = "sum += tile[31 - t];\n end = end - 1;"},
                  "'end' is changed between two copies");
  expect_one_tile({.header = "for (int k = 0; k < c[0]; k += 32)",
                   .copy = "tile[t] = a[k + t];",
                   .use = "sum += tile[31 - t];\n if (t == 0) c[0] = 64;"},
                  "'c' says where it ends, and is written");
}

// Tiles that are written in the use by way of pointers or atomics.
TEST(StripLoop, TheUseOnlyReadsTiles) {
  expect_one_tile({.use = "float* own = &tile[t];\n own[0] = own[0] * 2.0f;\n sum += own[0];"},
                  "tile");
  expect_one_tile(
      {.use = "float before = atomicAdd(&tile[0], 1.0f);\n sum += before > 0.0f ? 1.0f : 0.0f;"},
      "its use writes a tile by way of 'atomicAdd'");
  expect_one_tile({.use = "tile[t] = tile[t] * 2.0f;\n sum += tile[t];"},
                  "'tile' is changed between two copies");
}

TEST(StripLoop, CopiesStoreToTilesByName) {
  expect_one_tile({.before = "__shared__ float other[64];",
                   .copy = "float* row = &other[0];\n for (int u = 0; u < 2; ++u) {\n"
                           " row[t + 32 * u] = a[k + t];\n tile[t + 32 * u] = a[k + t];\n}",
                   .use = "sum += tile[31 - t] + other[63 - t];"},
                  "its copies write through the pointer 'row'");
}

TEST(StripLoop, IsCopyBarrierUseBarrier) {
  expect_one_tile({.use = "sum += tile[31 - t];\n __syncthreads();\n sum += tile[t ^ 1];"},
                  "not of the shape copy, barrier, use, barrier");
  expect_one_tile({.header = "for (int k = n - 1; k >= 0; k -= 32)"}, "not a counted loop");
}

}  // namespace
}  // namespace regraph::test::strip_loop_test
