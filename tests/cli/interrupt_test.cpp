// Ctrl-C in the middle of a search: what was found so far is kept, and no process stays behind.
#include "cli/running_program.h"

#include <sys/prctl.h>

namespace regraph::interrupt_test {
namespace {

class Interrupt : public test::RunningProgram {
 protected:
  // Orphans come to this process, which asked for them: any that is left is one too many.
  static void expect_no_orphans() {
    int status = 0;
    EXPECT_EQ(waitpid(-1, &status, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

  Interrupt() { prctl(PR_SET_CHILD_SUBREAPER, 1); }
};

TEST_F(Interrupt, KeepsWhatWasFound) {
  for (const int signal : {SIGINT, SIGTERM}) {
    const std::string out = "out" + std::to_string(signal);
    const pid_t child = start({example("transpose"), "--device", "h200", "--evaluations", "100000",
                               "--jobs", "2", "--verbose", "--output", out, "--json"});
    ASSERT_GT(child, 0);
    ASSERT_TRUE(wait_until_error_holds("s]    4 ")) << content("error");  // four evaluations
    kill(child, signal);
    EXPECT_EQ(wait_for_end(child), 130) << content("error");
    for (const char* name : {"best.cu", "best.regraph.yaml", "best.diff", "manifest.yaml",
                             "result.json", "results.t4.json", "run.db", "report.html"}) {
      EXPECT_TRUE(std::filesystem::exists(path(out) / name)) << name;
    }
    const auto result = nlohmann::json::parse(content("output"));
    EXPECT_EQ(result.at("stopped"), "cancelled");
    EXPECT_EQ(nlohmann::json::parse(content(out + "/result.json")), result);
    expect_no_orphans();
  }
}

TEST_F(Interrupt, BeforeThereIsAnythingLeavesNothing) {
  const pid_t child = start({example("sgemm"), "--device", "h200", "--size", "M=64"});
  ASSERT_GT(child, 0);
  // As early as the signal is heard: still compiling or checking the original.
  ASSERT_TRUE(wait_until_caught(child, SIGINT)) << content("error");
  kill(child, SIGINT);
  EXPECT_EQ(wait_for_end(child), 130) << content("error");
  EXPECT_EQ(content("output"), "");
  EXPECT_NE(content("error").find("interrupted"), std::string::npos) << content("error");
  EXPECT_FALSE(std::filesystem::exists(path("regraph-runs")));
  expect_no_orphans();
}

}  // namespace
}  // namespace regraph::interrupt_test
