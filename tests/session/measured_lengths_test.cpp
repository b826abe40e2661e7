// Lengths as numbers, where no expression of sizes gives them.
#include "session/measured_lengths.h"

#include "session/initial_manifest.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace regraph::measured_lengths_test {
namespace {

class MeasuredLengthsTest : public test::SessionTest {
 protected:
  Result<std::unique_ptr<Session>, SessionError> open(const std::string& source) {
    write("k.cu", source);
    SessionOptions options = this->options();
    options.problem.kernel_file = path("k.cu");
    return Session::open(options, installation, never);
  }

  static const Argument& argument(const Session& session, const std::string& name) {
    return *std::ranges::find(session.problem().arguments, name, &Argument::name);
  }
};

// Rows of a triangle, one behind the other.
constexpr const char* kTriangle =
    "__global__ void rows(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
    "  float s = 0; int first = 0; int k = 0;\n"
    "  do { first += k; ++k; } while (k <= i);\n"
    "  for (int j = 0; j <= i; ++j) s += x[first + j];\n"
    "  y[i] = s;\n}\n";

TEST_F(MeasuredLengthsTest, AreSizesOfTheirOwnWithAValueForEachTest) {
  const auto session = open(kTriangle);
  ASSERT_TRUE(session) << session.error().message;
  const Problem& problem = (*session)->problem();
  ASSERT_EQ(argument(**session, "x").shape.size(), 1U);
  EXPECT_EQ(argument(**session, "x").shape.front().text(), "x_length");
  EXPECT_EQ(argument(**session, "y").shape.front().text(), "n");
  ASSERT_GE(problem.tests.size(), 2U);
  for (const Symbols& test : problem.tests) {
    const std::int64_t n = test.at("n");
    EXPECT_EQ(test.at("x_length"), n * (n + 1) / 2) << n;
  }
  const std::int64_t n = problem.sizes.at("n");
  EXPECT_GE(problem.sizes.at("x_length"), n * (n + 1) / 2);
  const bool said = std::ranges::any_of(problem.notes, [](const std::string& note) {
    return note.find("'x': x_length elements, which is ") != std::string::npos;
  });
  EXPECT_TRUE(said);
}

// Of fewer channels than groups none is left for a group: the kernel runs, but no length is
// nothing.
TEST_F(MeasuredLengthsTest, SizesAtWhichALengthIsNothingAreNoTests) {
  const auto session = open(
      "__global__ void grouped(const float* x, const float* w, float* y, int channels, int groups) "
      "{\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= channels) return;\n"
      "  int of_group = channels / groups;\n"
      "  float s = 0; int first = 0; int k = 0;\n"
      "  do { first += k; ++k; } while (k <= i);\n"
      "  for (int j = 0; j <= i; ++j) s += x[first + j];\n"
      "  for (int c = 0; c < of_group; ++c) s += w[i * of_group + c];\n"
      "  y[i] = s;\n}\n");
  ASSERT_TRUE(session) << session.error().message;
  const Problem& problem = (*session)->problem();
  ASSERT_FALSE(problem.tests.empty());
  for (const Symbols& test : problem.tests)
    EXPECT_GE(test.at("channels"), test.at("groups"));
}

TEST_F(MeasuredLengthsTest, FollowTheSizesThatTheUserGives) {
  write("k.regraph.yaml", "kernel: rows\nsizes: {n: 300}\n");
  const auto session = open(kTriangle);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ((*session)->problem().sizes.at("n"), 300);
  EXPECT_GE((*session)->problem().sizes.at("x_length"), 300 * 301 / 2);
}

TEST_F(MeasuredLengthsTest, TestsOfTheUsersStay) {
  write("k.regraph.yaml", "kernel: rows\ntests: [{n: 33}, {n: 128}]\n");
  const auto session = open(kTriangle);
  ASSERT_TRUE(session) << session.error().message;
  const std::vector<Symbols>& tests = (*session)->problem().tests;
  ASSERT_EQ(tests.size(), 2U);
  EXPECT_EQ(tests[0].at("n"), 33);
  EXPECT_EQ(tests[0].at("x_length"), 33 * 34 / 2);
  EXPECT_EQ(tests[1].at("n"), 128);
}

TEST_F(MeasuredLengthsTest, StructuresChoosePlacesToo) {
  const auto session = open(
      "struct Cell { int next; float weight; };\n"
      "__global__ void walk(const Cell* cells, const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
      "  y[i] = cells[i].weight * x[3 * cells[i].next + 1];\n}\n");
  ASSERT_TRUE(session) << session.error().message;
  // The integers of structures are 0 to 15, as others are.
  const IntegerExpression& length = argument(**session, "x").shape.front();
  for (const Symbols& test : (*session)->problem().tests) {
    const auto elements = length.evaluate(test);
    ASSERT_TRUE(elements.ok());
    EXPECT_GE(*elements, 3 * 15 + 2);
  }
}

TEST_F(MeasuredLengthsTest, AreInTheManifestThatIsWrittenDown) {
  const auto session = open(kTriangle);
  ASSERT_TRUE(session) << session.error().message;
  const std::string text = initial_manifest((*session)->opened());
  EXPECT_NE(text.find("x_length"), std::string::npos) << text;
  EXPECT_EQ(text.find("FILL IN"), std::string::npos) << text;
}

}  // namespace
}  // namespace regraph::measured_lengths_test
