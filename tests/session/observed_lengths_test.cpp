// Lengths that the source does not tell, seen when the kernel runs.
#include "session/observed_lengths.h"

#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regraph {
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

TEST_F(ObservedLengthsTest, WhatDependsOnContentsIsNotGuessed) {
  const auto session = open(
      "__global__ void k(const float* x, float* y, int n, int m) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] = x[(int)(y[i] * 100.0f)];\n}");
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("depend on what buffers hold"), std::string::npos)
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
}  // namespace regraph
