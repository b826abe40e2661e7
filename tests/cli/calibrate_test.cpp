// Devices as files, and tools/calibrate with regraph-calibrate from collecting to a table.
#include "cli/search_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::test::calibrate_test {
namespace {

using nlohmann::json;

class Calibrate : public SearchProgram {
 protected:
  ProgramRun tool(std::vector<std::string> arguments) const {
    return run_program(std::string(REGRAPH_SOURCE_DIR) + "/tools/calibrate", std::move(arguments));
  }
  ProgramRun fit(std::vector<std::string> arguments) const {
    return run_program(REGRAPH_CALIBRATE_PROGRAM, std::move(arguments));
  }

  [[nodiscard]] double baseline_seconds(const std::string& device) const {
    const ProgramRun done = run({example("vecadd"), "--device", device, "--dry-run", "--json"});
    EXPECT_EQ(done.exit_code, 0) << done.error;
    return done.exit_code == 0 ? done.json().at("baseline").at("seconds").get<double>() : 0.0;
  }
};

TEST_F(Calibrate, ADeviceMayBeAFile) {
  file("slow.yaml", "base: h200\nname: slow\ndram_bytes_per_second: 2.125e12\n");
  const ProgramRun done = run({example("vecadd"), "--device", "slow.yaml", "--dry-run", "--json"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  EXPECT_EQ(done.json().at("device"), "slow");
  EXPECT_EQ(done.json().at("architecture"), "sm_90");
  // vecadd is limited by DRAM, then by writes to the L2: half the bandwidth, almost twice the time.
  const double slower = baseline_seconds("slow.yaml") / baseline_seconds("h200");
  EXPECT_GT(slower, 1.5);
  EXPECT_LT(slower, 2.0);
}

TEST_F(Calibrate, AWrongDeviceFileIsAUsageErrorWithItsLine) {
  file("wrong.yaml", "base: h200\nsm_count: lots\n");
  const struct {
    const char* device;
    const char* expected;
  } cases[] = {{"wrong.yaml", "--device: wrong.yaml:2: sm_count: 'lots' is no number"},
               {"absent.yaml", "absent.yaml"}};
  for (const auto& one : cases) {
    const ProgramRun done = run({example("vecadd"), "--device", one.device, "--dry-run"});
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_TRUE(done.complains_of(one.expected)) << done.error;
    EXPECT_EQ(done.output, "");
  }
}

// The run keeps its device: the file is not needed again.
TEST_F(Calibrate, AResumedRunKeepsTheDeviceOfItsFile) {
  file("slow.yaml", "base: h200\nname: slow\ndram_bytes_per_second: 2e12\n");
  const ProgramRun done = run({example("transpose"), "--device", "slow.yaml", "--evaluations", "4",
                               "--output", "out", "--json", "--quiet"});
  ASSERT_EQ(done.exit_code, 0) << done.error;
  std::filesystem::remove(path("slow.yaml"));
  // Elsewhere, the result is made again from what is recorded.
  std::filesystem::rename(path("out"), path("moved"));
  const ProgramRun again = run({"--resume", "moved", "--json", "--quiet"});
  ASSERT_EQ(again.exit_code, 0) << again.error;
  EXPECT_EQ(again.json().at("device"), "slow");
  EXPECT_EQ(again.json().at("best").at("seconds"), done.json().at("best").at("seconds"));
  // The numbers are the file's: they are in the database.
  EXPECT_EQ(again.json().at("baseline"), done.json().at("baseline"));
}

TEST_F(Calibrate, CollectsFitsAndTheTableIsADevice) {
  const std::vector<std::string> collect = {"--collect",
                                            "samples",
                                            "--program",
                                            REGRAPH_SEARCH_PROGRAM,
                                            "--evaluator",
                                            "model",
                                            "--device",
                                            "h200",
                                            "--evaluations",
                                            "3",
                                            "--micro-evaluations",
                                            "1",
                                            "--only",
                                            "vecadd",
                                            "transpose",
                                            "tiny_blocks"};
  const ProgramRun collected = tool(collect);
  ASSERT_EQ(collected.exit_code, 0) << collected.output << collected.error;
  const std::string lines = content("samples/samples.jsonl");
  const json first = json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first.at("schema"), "regraph-samples/1");
  EXPECT_EQ(first.at("family"), "transpose");
  EXPECT_EQ(first.at("variants").size(), 4U);
  // What is there is not run again.
  const ProgramRun nothing = tool(collect);
  EXPECT_EQ(nothing.exit_code, 0);
  EXPECT_EQ(content("samples/samples.jsonl"), lines);

  // Predictions are no measurements.
  const ProgramRun refused = fit({"samples/samples.jsonl"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_TRUE(refused.complains_of("predicted")) << refused.error;

  // From another device's numbers, the fit comes closer to the one that "measured".
  file("start.yaml", "base: h200\nname: start\ndram_bytes_per_second: 3.4e12\n");
  const ProgramRun fitted = tool({"--fit", "samples", "--program", REGRAPH_CALIBRATE_PROGRAM,
                                  "--allow-predicted", "--device", "start.yaml", "--table",
                                  "mine.yaml", "--report", "report.md", "--list", "list.tsv"});
  ASSERT_EQ(fitted.exit_code, 0) << fitted.error;
  const std::string report = content("report.md");
  for (const char* part : {"| transpose | 4 |", "| vecadd | 4 |", "2 families", "dram_bytes_per"})
    EXPECT_NE(report.find(part), std::string::npos) << report;
  EXPECT_EQ(report.find("| micro |"), std::string::npos) << report;
  EXPECT_NE(content("list.tsv").find("tiny_blocks n=262144: original"), std::string::npos);
  const std::string table = content("mine.yaml");
  EXPECT_NE(table.find("dram_bytes_per_second: "), std::string::npos) << table;
  const double wanted = baseline_seconds("h200");
  const double before = baseline_seconds("start.yaml");
  const double after = baseline_seconds("mine.yaml");
  EXPECT_LT(std::abs(after - wanted), 0.5 * std::abs(before - wanted));
}

TEST_F(Calibrate, DamagedSamplesAreNamedByFileAndLine) {
  const std::string good =
      R"({"schema": "regraph-samples/1", "name": "k", "family": "k", "device": "h200", "kernel": "k",)"
      R"( "path": "k.cu", "source": "x", "manifest": "sizes: {}", "variants": [)";
  const struct {
    std::string text;
    const char* expected;
  } cases[] = {
      {"", "no samples"},
      {"nonsense\n", "s.jsonl:1: no JSON object"},
      {"\n{}\n", "s.jsonl:2: its 'schema' is not"},
      {R"({"schema": "regraph-samples/1", "name": "k"})", "s.jsonl:1: 'family' is missing"},
      {good + "1]}", "s.jsonl:1: variant 0 is damaged"},
      {good + R"({"steps": "o", "method": "measured", "median": 0}]})", "variant 0 is damaged"},
      {good + R"({"steps": "o", "method": "measured", "median": "1"}]})", "variant 0 is damaged"},
      {good + R"({"steps": "o", "method": "measured", "median": 1, "source": "y"}]})",
       "variant 0 is damaged"},
      {good + R"({"steps": "o", "method": "measured", "median": 1, "source": "y", "plan": [1]}]})",
       "variant 0 is damaged"},
      {std::string(5000, '['), "s.jsonl:1: no JSON object"},
  };
  for (const auto& one : cases) {
    file("s.jsonl", one.text);
    const ProgramRun done = fit({"s.jsonl"});
    EXPECT_EQ(done.exit_code, 2) << one.text;
    EXPECT_TRUE(done.complains_of(one.expected)) << one.text << "\n" << done.error;
  }
  EXPECT_EQ(fit({"absent.jsonl"}).exit_code, 2);
  EXPECT_EQ(fit({}).exit_code, 2);
  file("s.jsonl", good + R"({"steps": "o", "method": "measured", "median": 1}]})");
  EXPECT_TRUE(fit({"s.jsonl", "--table", "x.txt"}).complains_of(".yaml"));
  // A kernel that does not compile is left out and named; with no other, nothing can be fitted.
  const ProgramRun broken = fit({"s.jsonl"});
  EXPECT_EQ(broken.exit_code, 4);
  EXPECT_TRUE(broken.complains_of("left out: s.jsonl:1 (k)")) << broken.error;
}

}  // namespace
}  // namespace regraph::test::calibrate_test
