// Lengths that the source does not tell, seen when the kernel runs.
#include "session/observed_lengths.h"

#include "session/initial_manifest.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regraph::observed_lengths_test {
namespace {

struct Seen {
  const char* kernel;    // with a parameter list that ends with "int n, int m"
  const char* argument;  // whose length is asked
  const char* length;
  Direction direction;
};

class ObservedLengthsTest : public test::SessionTest {
 protected:
  Result<std::unique_ptr<Session>, SessionError> open(const std::string& kernel) {
    write("k.cu", kernel +
                      "\nint main() { const int n = 4096, m = 100; float *x = 0, *y = 0;\n"
                      "  k<<<(n + 127) / 128, 128>>>(x, y, n, m); }\n");
    SessionOptions options = this->options();
    options.problem.kernel_file = path("k.cu");
    return Session::open(options, installation, never);
  }
};

TEST_F(ObservedLengthsTest, AreExpressionsOfSizes) {
  const std::string head = "int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n";
  const std::vector<Seen> all = {
      // A loop that the rewriter has no form for.
      {"float s = 0; int j = 0; do { s += x[i * m + j]; ++j; } while (j < m); y[i] = s;", "x",
       "m * n", Direction::in},
      // Pointers that move by rows.
      {"const float* row = x + i * m; float* out = y + i; for (int j = 0; j < m; ++j) *out += "
       "row[j];",
       "x", "m * n", Direction::in},
      {"y[i] = __ldg(&x[2 * i + 1]);", "x", "2 * n", Direction::in},
      {"atomicAdd(y, x[i]);", "y", "1", Direction::inout},
      {"if (threadIdx.x == 0) *(y + blockIdx.x) = x[i];", "y", "cdiv(n, 128)", Direction::out},
  };
  for (const Seen& one : all) {
    const auto session = open("__global__ void k(const float* x, float* y, int n, int m) {\n" +
                              head + one.kernel + "\n}");
    ASSERT_TRUE(session) << one.kernel << ": " << session.error().message;
    const auto& arguments = (*session)->problem().arguments;
    const auto found = std::ranges::find(arguments, one.argument, &Argument::name);
    ASSERT_NE(found, arguments.end());
    ASSERT_EQ(found->shape.size(), 1U) << one.kernel;
    EXPECT_EQ(found->shape.front().text(), one.length) << one.kernel;
    EXPECT_EQ(found->direction, one.direction) << one.kernel;
    EXPECT_EQ((*session)->problem().sizes.at("n"), 4096) << one.kernel;
  }
}

struct Indexed {
  const char* kernel;              // all of it
  std::vector<std::string> lines;  // of the manifest that is written
};

TEST_F(ObservedLengthsTest, FollowArraysThatChoosePlaces) {
  const std::string head = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";
  const std::vector<Indexed> all = {
      {"(const float* table, const int* index, float* y, int n) { HEAD"
       "  if (i < n) y[i] = table[index[i]]; }",
       {"table: {dir: in, shape: [index_range]", "init: \"int(0,index_range - 1)\"",
        "index_range: 1048576"}},
      {"(const float* table, const long long* token, float* y, int n, int width) { HEAD"
       "  if (i < n * width) y[i] = table[token[i / width] * width + i % width]; }",
       {"table: {dir: in, shape: [\"token_range * width\"]", "\"int(0,token_range - 1)\""}},
      // The original would race where two threads write one place.
      {"(const float* x, const int* to, float* y, int n) { HEAD  if (i < n) y[to[i]] = x[i]; }",
       {"y: {dir: out, shape: [n]", "init: permutation"}},
      {"(const float* x, const int* to, float* y, int n) { HEAD"
       "  if (i < n) atomicAdd(&y[to[i]], x[i]); }",
       {"y: {dir: inout, shape: [to_range]", "\"int(0,to_range - 1)\""}},
      {"(const unsigned char* x, unsigned* bins, int n) { HEAD"
       "  if (i < n) atomicAdd(&bins[x[i]], 1u); }",
       {"bins: {dir: inout, shape: [256]", "\"int(0,255)\""}},
      // The class that is looked up is one of `classes`.
      {"(const float* p, const int* target, float* y, int n, int classes) { HEAD"
       "  if (i < n) y[i] = -logf(p[i * classes + target[i]]); }",
       {"p: {dir: in, shape: [\"classes * n\"]", "\"int(0,classes - 1)\""}},
      {"(const int* first, const int* column, const float* value, const float* x, float* y,"
       " int rows) { HEAD  if (i >= rows) return; float s = 0.0f;"
       "  for (int j = first[i]; j < first[i + 1]; ++j) s += value[j] * x[column[j]];"
       "  y[i] = s; }",
       {"first: {dir: in, shape: [\"rows + 1\"], init: csr_offsets(nnz)}",
        "column: {dir: in, shape: [nnz], init: csr_columns(column_range)}",
        "value: {dir: in, shape: [nnz]", "x: {dir: in, shape: [column_range]"}},
      {"(const int* first, const int* row, const float* value, const float* x, float* y,"
       " int columns, int rows, int entries) { HEAD  if (i >= columns) return;"
       "  for (int j = first[i]; j < first[i + 1]; ++j) atomicAdd(&y[row[j]], value[j] * x[i]); }",
       // Nothing reads `rows` and `entries`: they say how long something is.
       {"csr_offsets(entries)", "csr_columns(rows)", "y: {dir: inout, shape: [rows]"}},
      {"(const int* row, const int* column, const float* value, const float* x, float* y, int n)"
       " { HEAD  if (i < n) atomicAdd(&y[row[i]], value[i] * x[column[i]]); }",
       {"y: {dir: inout, shape: [row_range]", "x: {dir: in, shape: [column_range]"}},
  };
  for (const Indexed& one : all) {
    std::string text = one.kernel;
    text.replace(text.find("HEAD"), 4, "\n" + head);
    write("k.cu", "__global__ void k" + text + "\n");
    const auto session = this->SessionTest::open();
    ASSERT_TRUE(session) << one.kernel << ": " << session.error().message;
    const std::string manifest = initial_manifest((*session)->opened());
    std::string plain = manifest;
    std::erase(plain, '"');
    for (std::string line : one.lines) {
      std::erase(line, '"');
      EXPECT_NE(plain.find(line), std::string::npos) << line << " is not in\n" << manifest;
    }
  }
}

TEST_F(ObservedLengthsTest, NumbersMayDecideWhetherSomethingIsTouched) {
  write("k.cu",
        "__global__ void k(const float* a, const float* b, float* total, int n) {\n"
        "  float sum = 0.0f;\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "  if (i < n) sum = a[i] * b[i];\n"
        "  if (sum != 0.0f) atomicAdd(total, sum);\n}\n");
  const auto session = this->SessionTest::open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->problem().arguments[2].shape.front().text(), "1");
}

TEST_F(ObservedLengthsTest, OfMuchWorkAFewBlocksAreLookedAt) {
  // 3 * B * T * C elements, of which the last third of a row is not touched.
  write("k.cu", R"cuda(__global__ void k(float* y, const float* x, int B, int T, int C, int H) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= B * H * T * T) return;
  int t = i % T, u = i / T % T, h = i / (T * T) % H, b = i / (H * T * T);
  int size = C / H;
  const float* p = x + b * T * C * 3 + u * C * 3 + h * size;
  const float* q = x + b * T * C * 3 + t * C * 3 + h * size + C;
  float s = 0.0f;
  for (int j = 0; j < size; ++j) s += p[j] * q[j];
  y[i] = s;
}
)cuda");
  const auto session = this->SessionTest::open();
  ASSERT_TRUE(session) << session.error().message;
  const Problem& problem = (*session)->problem();
  EXPECT_EQ(problem.arguments[0].shape.front().text(), "B * H * T * T");
  EXPECT_EQ(problem.arguments[1].shape.front().text(), "3 * B * C * T");
  for (const Symbols& test : problem.tests)
    EXPECT_EQ(test.at("C") % test.at("H"), 0);
}

TEST_F(ObservedLengthsTest, DynamicSharedMemoryIsWhatIsUsed) {
  write("k.cu", R"cuda(__global__ void k(const float* x, float* y, int n) {
  extern __shared__ float s[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  s[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = s[blockDim.x - 1 - threadIdx.x];
}
)cuda");
  const auto session = this->SessionTest::open();
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->problem().launch.launches.front().dynamic_shared_bytes.text(), "4 * bx");
}

TEST_F(ObservedLengthsTest, WhatDependsOnContentsIsNotGuessed) {
  const auto session = open(
      "__global__ void k(const float* x, float* y, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[(int)(y[i] * 100.0f)];\n}");
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("depend on what buffers hold, on the numbers of 'y'"),
            std::string::npos)
      << session.error().message;
}

TEST_F(ObservedLengthsTest, AKernelThatFailsSaysHow) {
  const auto session = open(
      "__global__ void k(const float* x, float* y, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  const float* far = x - 1; do { y[i] = *far; } while (i < 0);\n}");
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("run at small sizes it fails"), std::string::npos)
      << session.error().message;
}

}  // namespace
}  // namespace regraph::observed_lengths_test
