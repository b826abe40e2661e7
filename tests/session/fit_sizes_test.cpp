// Sizes that nobody gave follow the work that they make.
#include "session/opened_problem.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::fit_sizes_test {
namespace {

class FitSizesTest : public test::SessionTest {
 protected:
  std::unique_ptr<Session> opened(const std::string& source) {
    write("k.cu", source);
    auto session = open();
    EXPECT_TRUE(session) << session.error().message;
    return session ? *std::move(session) : nullptr;
  }
  static bool says(const Session& session, const std::string& text) {
    return std::ranges::any_of(session.problem().notes, [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  }
};

// Two loops in each thread: no buffer says how long that takes.
constexpr const char* kAllPairs = R"cuda(
__global__ void k(const float* q, const float* v, float* y, int heads, int n, int d) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, h = blockIdx.y;
  if (i >= n || h >= heads) return;
  float sum = 0.0f;
  for (int j = 0; j < n; ++j) {
    float s = 0.0f;
    for (int k = 0; k < d; ++k) s += q[(h * n + i) * d + k] * q[(h * n + j) * d + k];
    for (int k = 0; k < d; ++k) sum += s * s * v[(h * n + j) * d + k];
  }
  y[h * n + i] = sum;
}
)cuda";

TEST_F(FitSizesTest, TestsAreSmallWork) {
  const auto session = opened(kAllPairs);
  ASSERT_NE(session, nullptr);
  for (const Symbols& test : session->problem().tests)
    EXPECT_LE(test.at("heads") * test.at("n") * test.at("n") * test.at("d"), 16 << 20);
  EXPECT_FALSE(session->problem().tests.empty());
  // What was chosen is what is said.
  const Symbols& first = session->problem().tests.front();
  EXPECT_TRUE(says(*session, "heads: " + std::to_string(first.at("heads")) +
                                 ", n: " + std::to_string(first.at("n"))));
}

// Of a convolution of small images all sizes look as if they belonged to the kernel.
TEST_F(FitSizesTest, ImagesGetSmallerWhereNothingElseCan) {
  write("k.regraph.yaml",
        "sizes: {n: 16, c: 32, o: 32, h: 32, w: 32, k: 3}\nargs: {y: {shape: [n, o, h - k + 1, w - "
        "k + 1]}}\n");
  const auto session = opened(R"cuda(
__global__ void k(const float* a, const float* f, float* y, int n, int c, int o, int h, int w, int k) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y, image = blockIdx.z;
  int oh = h - k + 1, ow = w - k + 1;
  if (x >= ow || row >= oh || image >= n * o) return;
  float sum = 0.0f;
  for (int i = 0; i < c; ++i)
    for (int fy = 0; fy < k; ++fy)
      for (int fx = 0; fx < k; ++fx)
        sum += a[((image / o * c + i) * h + row + fy) * w + x + fx] *
               f[((image % o * c + i) * k + fy) * k + fx];
  y[(image * oh + row) * ow + x] = sum;
}
)cuda");
  ASSERT_NE(session, nullptr);
  for (const Symbols& test : session->problem().tests) {
    EXPECT_LE(test.at("n") * test.at("c") * test.at("o") * test.at("h") * test.at("w"), 4 << 20);
    EXPECT_GE(test.at("k"), 2);
  }
}

TEST_F(FitSizesTest, GivenTestsStay) {
  write("k.regraph.yaml", "sizes: {heads: 64, n: 64, d: 64}\ntests: [{heads: 64, n: 64, d: 64}]\n");
  const auto session = opened(kAllPairs);
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(session->problem().tests.front().at("heads"), 64);
}

TEST_F(FitSizesTest, ALaunchThatIsMuchWorkIsMadeSmaller) {
  // Each thread walks through all of a matrix.
  const auto session = opened(R"cuda(
__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float s = 0.0f;
  for (int a = 0; a < n; ++a)
    for (int b = 0; b < n; ++b) s += x[a * n + b] * x[b * n + i];
  y[i] = s;
}
)cuda");
  ASSERT_NE(session, nullptr);
  const std::int64_t n = session->problem().sizes.at("n");
  EXPECT_LT(n, 1024);
  EXPECT_GE(n, 128);
  EXPECT_EQ(session->problem().bench.front().at("n"), n);
  EXPECT_TRUE(says(*session, "no size is given: n = " + std::to_string(n)));
}

TEST_F(FitSizesTest, ALaunchThatIsNextToNothingIsMadeLarger) {
  const auto session = opened(R"cuda(
__global__ void k(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  for (int k = 0; k < 4 && i + k < n; ++k) y[i + k] = 2.0f * x[i + k];
}
)cuda");
  ASSERT_NE(session, nullptr);
  EXPECT_GE(session->problem().sizes.at("n"), 1 << 20);
}

TEST_F(FitSizesTest, AManifestForCompletionSaysWhatASearchWouldStumbleOver) {
  // It fails at the bench size alone.
  write("k.regraph.yaml",
        "sizes: {n: 4096}\nargs: {x: {dir: in, shape: [4096]}, y: {dir: out, shape: [n]}}\n"
        "launch: {block: 256, grid: \"cdiv(n, bx)\"}\n"
        "tests: [{n: 70}]\nbench: [{n: 8192}]\n");
  write("k.cu",
        "__global__ void k(const float* x, float* y, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = x[i];\n}\n");
  SessionOptions asked = options();
  asked.open.fill_in = true;
  const auto session = Session::open(asked, installation, never);
  ASSERT_TRUE(session) << session.error().message;
  const auto& missing = (*session)->opened().to_fill_in;
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_NE(missing.front().find("the original: "), std::string::npos) << missing.front();
}

}  // namespace
}  // namespace regraph::fit_sizes_test
