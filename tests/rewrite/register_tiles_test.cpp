// untile where each thread has a tile of the result in registers.
#include "rewrite/step_checks.h"

namespace regraph::test::register_tiles_test {
namespace {

const Application kUntile = {"untile", {}};

void expect_plain(const rewrite::KernelState& state) {
  const std::string code = source::print(state.unit);
  for (const char* gone : {"__shared__", "acc[", "strip", "% 4", "/ 4"})
    expect_no_text(code, gone);
  expect_text(code, "column < N");
  expect_text(code, "< K; ++k");
  EXPECT_EQ(state.plan.launches[0].grid[0].text(), "cdiv(N, bx)");
  EXPECT_EQ(state.plan.launches[0].grid[1].text(), "cdiv(M, by)");
}

constexpr const char* kOddSizes =
    "tests: [{M: 37, N: 41, K: 29}, {M: 64, N: 32, K: 32}, {M: 1, N: 1, K: 1}]\n";

// Blocks of 8 x 8 threads with 4 x 4 elements each.
Result<std::unique_ptr<KernelCase>> product(
    const std::string& body, const std::string& more = kOddSizes,
    const std::string& grid = "['cdiv(N, 32)', 'cdiv(M, 32)']") {
  return KernelCase::make(
      "#include <cuda_fp16.h>\n"
      "__global__ void f(const __half* A, const __half* B, float* C, int M, int N, int K) {\n"
      "  int tx = threadIdx.x, ty = threadIdx.y;\n"
      "  int row = blockIdx.y * 32 + ty * 4, col = blockIdx.x * 32 + tx * 4;\n" +
          body + "}",
      "sizes: {M: 64, N: 64, K: 64}\n"
      "args: {A: {dir: in, shape: [M, K]}, B: {dir: in, shape: [K, N]}, C: {dir: inout, shape: "
      "[M, N]}}\nlaunch: {block: [8, 8], grid: " +
          grid + "}\n" + more + "assume: {noalias: true, reassociate: true}\n");
}

const std::string kFill =
    "    for (int i = 0; i < 4; ++i)\n      for (int k = 0; k < 16; ++k)\n"
    "        a[ty * 4 + i][k] = row + i < M && t + k < K ? A[(row + i) * K + t + k] : "
    "__float2half(0.0f);\n"
    "    for (int j = 0; j < 4; ++j)\n      for (int k = 0; k < 16; ++k)\n"
    "        b[k][tx * 4 + j] = col + j < N && t + k < K ? B[(t + k) * N + col + j] : "
    "__float2half(0.0f);\n    __syncthreads();\n";
const std::string kUse =
    "    for (int k = 0; k < 16; ++k) {\n      float rm[4], rn[4];\n"
    "      for (int i = 0; i < 4; ++i) rm[i] = __half2float(a[ty * 4 + i][k]);\n"
    "      for (int j = 0; j < 4; ++j) rn[j] = __half2float(b[k][tx * 4 + j]);\n"
    "      for (int i = 0; i < 4; ++i)\n"
    "        for (int j = 0; j < 4; ++j) acc[i][j] += rm[i] * rn[j];\n    }\n"
    "    __syncthreads();\n  }\n";
const std::string kStore =
    "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j)\n"
    "      if (row + i < M && col + j < N) C[(row + i) * N + col + j] = acc[i][j];\n";
const std::string kShared = "  __shared__ __half a[32][16];\n  __shared__ __half b[16][32];\n";
const std::string kStrips = "  for (int t = 0; t < K; t += 16) {\n";

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos;
       at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

TEST(RegisterTiles, BecomeAThreadForEachElement) {
  const auto kernel =
      product(kShared + "  float acc[4][4] = {0.0f};\n" + kStrips + kFill + kUse + kStore);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto plain = expect_correct(**kernel, {kUntile});
  expect_plain(plain);
  EXPECT_LE(plain.plan.launches[0].block.count(), 1024U);
}

// The array by one index, cleared by one loop.
TEST(RegisterTiles, AreKnownByOneIndex) {
  const auto flat = [](const std::string& code) {
    return replaced(code, "acc[i][j]", "acc[i * 4 + j]");
  };
  for (const std::string& cleared :
       {std::string("  float acc[16] = {};\n"),
        std::string("  float acc[16];\n  for (int e = 0; e < 16; ++e) acc[e] = 0.0f;\n"),
        std::string("  float acc[16];\n  for (int i = 0; i < 4; ++i)\n"
                    "    for (int j = 0; j < 4; ++j) acc[i * 4 + j] = 0.0f;\n")}) {
    SCOPED_TRACE(cleared);
    const auto kernel = product(kShared + cleared + kStrips + kFill + flat(kUse) + flat(kStore));
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_plain(expect_correct(**kernel, {kUntile}));
  }
}

// The columns of a thread are a block apart, rows follow each other.
TEST(RegisterTiles, MayLieApart) {
  const auto apart = [](const std::string& code) {
    return replaced(
        replaced(replaced(code, "col + j", "left + tx + 8 * j"), "tx * 4 + j", "tx + 8 * j"),
        "[left", "[left");
  };
  const auto kernel =
      product("  int left = blockIdx.x * 32;\n" + kShared + "  float acc[4][4] = {};\n" + kStrips +
              apart(kFill) + apart(kUse) + apart(kStore));
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(expect_correct(**kernel, {kUntile}));
}

// Strips are copied to registers, without shared memory.
TEST(RegisterTiles, NeedNoSharedMemory) {
  const std::string body =
      "  float acc[4][4] = {};\n  for (int t = 0; t < K; t += 8) {\n"
      "    __half a[4][8], b[8][4];\n"
      "    for (int i = 0; i < 4; ++i)\n      for (int k = 0; k < 8; ++k) {\n"
      "        if (row + i < M && t + k < K) a[i][k] = A[(row + i) * K + t + k];\n"
      "        else a[i][k] = __float2half(0.0f);\n      }\n"
      "    for (int k = 0; k < 8; ++k)\n      for (int j = 0; j < 4; ++j)\n"
      "        b[k][j] = t + k < K && col + j < N ? B[(t + k) * N + col + j] : "
      "__float2half(0.0f);\n"
      "    for (int i = 0; i < 4; ++i)\n      for (int j = 0; j < 4; ++j)\n"
      "        for (int k = 0; k < 8; ++k)\n"
      "          acc[i][j] += __half2float(a[i][k]) * __half2float(b[k][j]);\n  }\n";
  const auto kernel = product(body + kStore);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(expect_correct(**kernel, {kUntile}));
  // An earlier row's elements.
  const auto handed = product(replaced(body, "(a[i][k])", "(a[i == 0 ? 0 : i - 1][k])") + kStore);
  ASSERT_TRUE(handed.ok()) << handed.error().message;
  expect_refusal(**handed, kUntile, "its threads have no tiles");
}

// The launch counts blocks by the block's extents.
TEST(RegisterTiles, KeepTheGridThatFollowsTheBlock) {
  const auto kernel =
      product(kShared + "  float acc[4][4] = {};\n" + kStrips + kFill + kUse + kStore, kOddSizes,
              "['cdiv(N, 4 * bx)', 'cdiv(M, 4 * by)']");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_plain(expect_correct(**kernel, {kUntile}));
}

// Without guards, elements of a thread are different ones where a row is as long as its tile.
TEST(RegisterTiles, AreToldByTheirPlace) {
  const std::string unguarded = replaced(
      replaced(replaced(kShared + "  float acc[4][4] = {};\n" + kStrips + kFill + kUse + kStore,
                        "if (row + i < M && col + j < N) ", ""),
               "row + i < M && ", ""),
      "col + j < N && ", "");
  const std::string sizes = "tests: [{M: 64, N: 32, K: 29}, {M: 32, N: 64, K: 16}]\n";
  const auto kernel = product(unguarded, sizes, "['N / 32', 'M / 32']");
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  expect_no_text(source::print(expect_correct(**kernel, {kUntile}).unit), "acc[");
}

void expect_tile_kept(const std::string& body) {
  SCOPED_TRACE(body);
  const auto kernel = product(body);
  ASSERT_TRUE(kernel.ok()) << kernel.error().message;
  const auto state = (*kernel)->apply((*kernel)->original(), "untile", {});
  if (!state) return;
  EXPECT_NE(source::print(state->unit).find("acc["), std::string::npos)
      << source::print(state->unit);
  EXPECT_EQ((*kernel)->verdict(*state), "correct");
}

TEST(RegisterTiles, StayWhereElementsMeet) {
  const std::string product_of_tile =
      kShared + "  float acc[4][4] = {};\n" + kStrips + kFill + kUse;
  // The next row's first element is this one's third: the last store counts.
  expect_tile_kept(product_of_tile +
                   "  for (int i = 0; i < 4; ++i)\n    for (int j = 0; j < 4; ++j)\n"
                   "      if (row + i < 4 && col + j < 4 && row + i < M && col + j < N)\n"
                   "        C[(row + i) * 2 + col + j] = acc[i][j];\n");
  // Two statements store to the same rows.
  const std::string first_thread =
      replaced(kStore, "if (row + i < M", "if (row + i < 3 && col + j < 4 && row + i + 1 < M");
  expect_tile_kept(
      product_of_tile + first_thread +
      replaced(replaced(first_thread, "C[(row + i)", "C[(row + i + 1)"), "= acc", "= 2.0f * acc"));
  expect_tile_kept(product_of_tile + replaced(kStore, "= acc[i][j]", "= acc[i][3 - j]"));
  expect_tile_kept(product_of_tile + "  float all = 0.0f;\n" +
                   replaced(kStore, "C[(row + i) * N + col + j] = acc[i][j]",
                            "{ all += acc[i][j]; C[(row + i) * N + col + j] = all; }"));
}

// Where several threads fill an element, one of them may do it alone.
TEST(RegisterTiles, MayBeFilledByOneOfSeveralThreads) {
  const auto filled = [](const std::string& condition) {
    return kShared + "  float acc[4][4] = {};\n" + kStrips +
           replaced(kFill,
                    "        a[ty * 4 + i][k] = row + i < M && t + k < K ? A[(row + i) * K + t + "
                    "k] : __float2half(0.0f);\n",
                    "        if (row + i < M && t + k < K) {\n"
                    "          a[ty * 4 + i][k] = A[(row + i) * K + t + k];\n"
                    "        } else if (" +
                        condition +
                        ") {\n          a[ty * 4 + i][k] = __float2half(0.0f);\n"
                        "        }\n") +
           kUse + kStore;
  };
  for (const char* condition : {"tx == 0", "tx < 3"}) {
    const auto kernel = product(filled(condition));
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_plain(expect_correct(**kernel, {kUntile}));
  }
  // No thread, or not for every element.
  for (const char* condition : {"tx == 9", "ty == 0", "tx == 0 && k < 8"}) {
    const auto kernel = product(filled(condition), "tests: [{M: 64, N: 32, K: 32}]\n");
    ASSERT_TRUE(kernel.ok()) << kernel.error().message;
    expect_refusal(**kernel, kUntile, "the other side of the guard does more than fill");
  }
}

}  // namespace
}  // namespace regraph::test::register_tiles_test
