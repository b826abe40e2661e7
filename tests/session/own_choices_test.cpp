// What was made up for a problem, and is given up where the original shows that it was wrong.
#include "session/opened_problem.h"
#include "session/opened_session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace regraph::own_choices_test {
namespace {

class OwnChoices : public test::SessionTest {
 protected:
  Result<std::unique_ptr<Session>, SessionError> open(const std::string& source,
                                                      const std::string& manifest = "") {
    write("k.cu", source);
    if (!manifest.empty()) write("k.regraph.yaml", manifest);
    SessionOptions options = this->options();
    options.problem.kernel_file = path("k.cu");
    return Session::open(options, installation, never);
  }

  static const Argument& argument(const Session& session, const std::string& name) {
    return *std::ranges::find(session.problem().arguments, name, &Argument::name);
  }
  static bool has_note(const Session& session, const std::string& text) {
    return std::ranges::any_of(session.problem().notes, [&](const std::string& note) {
      return note.find(text) != std::string::npos;
    });
  }
};

// Threads of a row share its last element unless the block fits the rows.
constexpr const char* kRowsOfBlocks =
    "__global__ void ends(const float* x, float* y, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) y[i / (n % 64 == 0 ? 1 : 2)] = x[i];\n}\n";

TEST_F(OwnChoices, TestSizesAtWhichTheOriginalHasNoResultAreLeftOut) {
  const auto session = open(kRowsOfBlocks);
  ASSERT_TRUE(session) << session.error().message;
  ASSERT_FALSE((*session)->problem().tests.empty());
  for (const Symbols& test : (*session)->problem().tests)
    EXPECT_TRUE(test.at("n") % 64 == 0 || test.at("n") == 1) << test.at("n");
  EXPECT_TRUE(has_note(**session, "is left out: the original kernel, with {"));
}

TEST_F(OwnChoices, TestSizesOfTheUsersStay) {
  const auto session = open(kRowsOfBlocks,
                            "sizes: {n: 4096}\nargs: {x: {shape: [n]}, y: {shape: [n]}}\n"
                            "tests: [{n: 128}, {n: 70}]\n");
  ASSERT_FALSE(session);
  EXPECT_NE(session.error().message.find("data race"), std::string::npos)
      << session.error().message;
}

TEST_F(OwnChoices, AnOutputThatIsNeverWrittenIsAnInput) {
  const std::string kernel =
      "__global__ void copy(const float* x, float* y, float* errors, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
      "  y[i] = x[i]; if (x[i] > 1e30f) errors[i] = x[i];\n}\n";
  const auto session = open(kernel);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_EQ(argument(**session, "errors").direction, Direction::in);
  EXPECT_EQ(argument(**session, "y").direction, Direction::out);
  EXPECT_TRUE(has_note(**session, "'errors' is never written at the test sizes"));
  const auto said = open(kernel, "args: {errors: {dir: out}}\n");
  ASSERT_FALSE(said);
  EXPECT_NE(said.error().message.find("writes nothing to 'errors'"), std::string::npos)
      << said.error().message;
}

TEST_F(OwnChoices, StructuresHoldNumbersThatAreSaid) {
  const std::string kernel =
      "struct Shape { int width; float scale; bool shifted; };\n"
      "__global__ void scale(const float* x, float* y, Shape shape, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= n) return;\n"
      "  y[i] = x[i % shape.width] * shape.scale + (shape.shifted ? 1.0f : 0.0f);\n}\n";
  const auto session = open(kernel);
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_TRUE(has_note(**session,
                       "the structure 'shape' holds: its integers are 64, other numbers "
                       "1.5"));
  EXPECT_EQ(argument(**session, "shape").record.size(), 12U);
  const auto elements = argument(**session, "x").shape.front().evaluate({{"n", 100}});
  ASSERT_TRUE(elements.ok());
  EXPECT_GE(*elements, 64);
}

}  // namespace
}  // namespace regraph::own_choices_test
