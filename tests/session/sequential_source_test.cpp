#include "report/run_report.h"
#include "session/opened_problem.h"
#include "session/opened_session.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace regraph::sequential_source_test {
namespace {

class SequentialSourceOf : public test::SessionTest {
 protected:
  [[nodiscard]] Result<std::unique_ptr<Session>, SessionError> open_function(
      const std::string& function, std::vector<std::string> sizes = {}) const {
    SessionOptions wanted = options();
    wanted.problem.kernel_file = std::string(REGRAPH_SOURCE_DIR) + "/tests/loops/functions.cpp";
    wanted.problem.function = function;
    wanted.problem.sizes = std::move(sizes);
    return Session::open(wanted, installation, never);
  }

  // The speedup that a short search claims.
  double searched(const std::string& function, std::vector<std::string> sizes) {
    const auto session = open_function(function, std::move(sizes));
    if (!session) {
      ADD_FAILURE() << session.error().message;
      return 0.0;
    }
    SearchConfig config = (*session)->configuration();
    config.budget.evaluations = 4;
    config.jobs = 2;
    const auto expander = (*session)->expander({}, config);
    EXPECT_TRUE(expander) << expander.error().message;
    const auto found = (*session)->search({config, **expander});
    EXPECT_TRUE(found) << found.error().message;
    EXPECT_TRUE((*session)->evaluate((*session)->original(), {.seed = 1}, never).correct());
    return found ? std::exp(found->outcome.log_speedup) : 0.0;
  }
};

bool has_note(const Session& session, const std::string& part) {
  for (const std::string& note : session.problem().notes) {
    if (note.find(part) != std::string::npos) return true;
  }
  return false;
}

TEST_F(SequentialSourceOf, FunctionsAreSearched) {
  EXPECT_GT(searched("transpose", {"rows=1024", "columns=1024"}), 1.5);
  EXPECT_GE(searched("matrix_product", {"m=256", "n=256", "k=256"}), 1.0);
  EXPECT_GE(searched("dot_product", {"n=65536"}), 1.0);
}

TEST_F(SequentialSourceOf, KernelsAreComparedWithTheFunction) {
  const auto session = open_function("row_softmax", {"rows=64", "columns=64"});
  ASSERT_TRUE(session) << session.error().message;
  EXPECT_TRUE(has_note(**session, "computes the same on this processor"));
  EXPECT_TRUE(has_note(**session, "on one core of this machine"));
}

TEST_F(SequentialSourceOf, ADifferenceIsTheEnd) {
  write("k.cpp", "void f(float* y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = 2.0f;\n}\n");
  // Only the first block is launched.
  write("k.regraph.yaml", R"yaml(sizes: {n: 4096}
args: {y: {dir: out, shape: [n]}}
launch: {block: 256, grid: 1}
tests: [{n: 1000}]
)yaml");
  SessionOptions wanted = options();
  wanted.problem.kernel_file = path("k.cpp");
  const auto session = Session::open(wanted, installation, never);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause, FailureCause::unusable_kernel);
  EXPECT_NE(session.error().message.find("does not compute what the function does"),
            std::string::npos)
      << session.error().message;
  EXPECT_NE(session.error().message.find("'y'"), std::string::npos) << session.error().message;
}

TEST_F(SequentialSourceOf, AFunctionThatLeavesItsBuffersIsNoReference) {
  write("k.cpp", "void f(float* y, int n) {\n  for (int i = 0; i < n; ++i) y[i] = 2.0f;\n}\n");
  write("k.regraph.yaml", R"yaml(sizes: {n: 4096}
args: {y: {dir: out, shape: ["n - 1"]}}
tests: [{n: 1000}]
)yaml");
  SessionOptions wanted = options();
  wanted.problem.kernel_file = path("k.cpp");
  EXPECT_FALSE(Session::open(wanted, installation, never));
}

TEST_F(SequentialSourceOf, RefusalsNameFileAndLine) {
  const auto session = open_function("prefix_sum");
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause, FailureCause::unusable_kernel);
  EXPECT_NE(session.error().message.find("functions.cpp:133: loop 'i' is not parallel"),
            std::string::npos)
      << session.error().message;
}

}  // namespace
}  // namespace regraph::sequential_source_test
