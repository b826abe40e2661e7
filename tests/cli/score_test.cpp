// regraph-score on kernels that are right, slower, wrong, racing, cheating, and none at all.
#include "cli/search_program.h"

#include <gtest/gtest.h>

namespace regraph::test::score_test {
namespace {

constexpr const char* kMeanManifest = R"yaml(sizes: {R: 4096, C: 1024}
args: {x: {shape: [R, C]}, y: {dir: out, shape: [R]}}
launch: {block: 64, grid: R}
tests: [{R: 3, C: 1}, {R: 7, C: 200}]
bench: [{R: 4096, C: 1024}]
assume: {reassociate: true}
)yaml";

class Score : public SearchProgram {
 protected:
  void SetUp() override {
    file("original.cu", hostile("original.cu"));
    file("original.regraph.yaml", kMeanManifest);
  }
  [[nodiscard]] static std::string hostile(const std::string& name) {
    const auto text =
        read_file(std::filesystem::path(REGRAPH_SOURCE_DIR) / "tests/hostile/mean" / name, 1 << 20);
    EXPECT_TRUE(text.ok()) << name;
    return text ? *text : "";
  }
  ProgramRun score(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--device", "h200", "--evaluator", "model"});
    return run_program(REGRAPH_SCORE_PROGRAM, std::move(arguments));
  }
  // One of the hostile suite's kernels against the original.
  ProgramRun score_hostile(const std::string& name) {
    file("candidate.cu", hostile(name));
    return score({"original.cu", "candidate.cu", "-q"});
  }
};

TEST_F(Score, TellsKernelsApart) {
  struct Expected {
    const char* name;
    int exit_code;
    const char* says;
  };
  for (const Expected& expected :
       {Expected{"honest/shuffles.cu", 0, "EQUAL, FASTER"},
        Expected{"honest/serial.cu", 3, "EQUAL, SLOWER"},
        Expected{"hostile/loses_the_last_column.cu", 8, "NOT EQUAL (wrong_result)"},
        Expected{"hostile/no_barrier.cu", 8, "NOT EQUAL (data_race)"},
        Expected{"hostile/remembers_in_shared_memory.cu", 8, "NOT EQUAL"}}) {
    const ProgramRun run = score_hostile(expected.name);
    EXPECT_EQ(run.exit_code, expected.exit_code) << expected.name << "\n"
                                                 << run.output << run.error;
    EXPECT_NE(run.output.find(expected.says), std::string::npos) << run.output;
  }
}

TEST_F(Score, OneThatIsNotEqualDecidesForAll) {
  file("fast.cu", hostile("honest/shuffles.cu"));
  file("wrong.cu", hostile("hostile/loses_the_last_column.cu"));
  const ProgramRun run = score({"original.cu", "fast.cu", "wrong.cu", "--json", "-q"});
  EXPECT_EQ(run.exit_code, 8) << run.error;
  const std::size_t end = run.output.find('\n');
  const auto fast = nlohmann::json::parse(run.output.substr(0, end));
  EXPECT_TRUE(fast["equal"].get<bool>());
  EXPECT_GT(fast["speedup"]["interval"][0].get<double>(), 1.0);
  const auto wrong = nlohmann::json::parse(run.output.substr(end));
  EXPECT_FALSE(wrong["equal"].get<bool>());
  EXPECT_EQ(wrong["verdict"], "wrong_result");
}

TEST_F(Score, AKernelIsAsFastAsItself) {
  const ProgramRun run = score({"original.cu", "original.cu"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_NE(run.output.find("the same machine code and launch"), std::string::npos) << run.output;
}

TEST_F(Score, ACandidateBringsItsOwnLaunch) {
  file("warp.cu",
       "__global__ void k(const float* x, float* y, int R, int C) {\n"
       "  float sum = 0.0f;\n  for (int c = threadIdx.x; c < C; c += 32) sum += x[blockIdx.x * C + "
       "c];\n"
       "  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);\n"
       "  if (threadIdx.x % 32 == 0) y[blockIdx.x] = sum / C;\n}\n");
  // With the original's 64 threads two warps write the same element.
  EXPECT_EQ(score({"original.cu", "warp.cu", "-q"}).exit_code, 8);
  file("warp.regraph.yaml", "launch: {block: 32, grid: R}\n");
  const ProgramRun run = score({"original.cu", "warp.cu", "-q"});
  EXPECT_NE(run.output.find("warp.cu: EQUAL"), std::string::npos) << run.output << run.error;
}

TEST_F(Score, BadInputIsNamed) {
  EXPECT_EQ(score({"original.cu"}).exit_code, 2);
  const ProgramRun missing = score({"original.cu", "nowhere.cu", "-q"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_TRUE(missing.complains_of("nowhere.cu")) << missing.error;
  file("other.cu", "__global__ void another(float* x) { x[0] = 1.0f; }\n");
  const ProgramRun other = score({"original.cu", "other.cu", "-q"});
  EXPECT_EQ(other.exit_code, 8) << other.error;
  EXPECT_NE(other.output.find("NOT JUDGED"), std::string::npos) << other.output;
  file("broken.cu",
       "__global__ void k(const float* x, float* y, int R, int C) { y[0] = undeclared; }\n");
  const ProgramRun broken = score({"original.cu", "broken.cu", "-q"});
  EXPECT_EQ(broken.exit_code, 8);
  EXPECT_NE(broken.output.find("undeclared"), std::string::npos) << broken.output;
}

}  // namespace
}  // namespace regraph::test::score_test
