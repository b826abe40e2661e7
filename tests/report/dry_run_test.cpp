#include "report/dry_run.h"

#include "report/report_test_support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::dry_run_test {
namespace {

TEST(DryRun, ListsStepsByPriorAsTextAndJson) {
  const test::Run run(false);
  const DeviceSpec device = *find_device("h200");
  const DryRunReport report{run.problem,
                            device,
                            run.outcome.baseline_evaluation,
                            {{"restrict_ldg", {}, 1}, {"block_size", {{"x", "128"}}, 1}},
                            {0.25, 0.75},
                            {{0.5, 0.0, 0.1, 0, 0.0}, {1.0, 0.2, 0.3, 12, -0.5}},
                            ""};
  const std::string text = dry_run_text(report);
  const std::size_t first = text.find("0.750  block_size(x=128)");
  const std::size_t second = text.find("0.250  restrict_ldg");
  EXPECT_NE(first, std::string::npos) << text;
  EXPECT_NE(second, std::string::npos) << text;
  EXPECT_LT(first, second);
  EXPECT_NE(text.find("1.22x published, 1.35x learned from 12 families, evidence 1.00, policy "
                      "-0.50"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1.00x published, evidence 0.50\n"), std::string::npos) << text;
  const auto json = nlohmann::json::parse(dry_run_json(report));
  EXPECT_EQ(json.at("schema"), "regraph-dry-run/1");
  EXPECT_EQ(json.at("kernel"), "scale");
  EXPECT_DOUBLE_EQ(json.at("baseline").at("seconds"), 1e-3);
  EXPECT_EQ(json.at("steps").at(0).at("step"), "block_size");
  EXPECT_DOUBLE_EQ(json.at("steps").at(0).at("prior"), 0.75);
  EXPECT_EQ(json.at("steps").at(0).at("families"), 12);
  EXPECT_DOUBLE_EQ(json.at("steps").at(0).at("policy"), -0.5);
  EXPECT_FALSE(json.contains("opaque"));
}

TEST(DryRun, TellsWhyStepsAreNotProposedWhereItIsAsked) {
  const test::Run run(false);
  const DeviceSpec device = *find_device("h200");
  DryRunReport report{run.problem,
                      device,
                      run.outcome.baseline_evaluation,
                      {{"block_size", {{"x", "128"}}, 1}},
                      {1.0},
                      {{0.5, 0.0, 0.1, 0, 0.0}},
                      ""};
  EXPECT_EQ(dry_run_text(report).find("not proposed"), std::string::npos);
  EXPECT_FALSE(nlohmann::json::parse(dry_run_json(report)).contains("refused"));
  report.refusals = {{"block_size(x=256)", "it is that already"},
                     {"block_size(x=512)", "too large"},
                     {"block_size(x=1024)", "too large"},
                     {"smem_tile(depth=16)", "no\nloop"},
                     {"smem_tile(depth=32)", "no\nloop"}};
  const std::string text = dry_run_text(report);
  const std::size_t begin = text.find("not proposed\n");
  ASSERT_NE(begin, std::string::npos) << text;
  for (const char* line : {"  block_size(x=256)  ", "  block_size(x=1024) and 1 more  ",
                           "  smem_tile  ", "  no loop\n", "  it is that already\n"}) {
    EXPECT_NE(text.find(line, begin), std::string::npos) << line << " in\n" << text;
  }
  EXPECT_EQ(nlohmann::json::parse(dry_run_json(report)).at("refused").at("block_size(x=512)"),
            "too large");
}

TEST(DryRun, WithoutProposalsTheReasonIsTold) {
  const test::Run run(false);
  const DeviceSpec device = *find_device("a100");
  const DryRunReport report{run.problem,        device, run.outcome.baseline_evaluation, {}, {}, {},
                            "k.cu:2: a do loop"};
  EXPECT_NE(dry_run_text(report).find("none: k.cu:2: a do loop"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(dry_run_json(report)).at("opaque"), "k.cu:2: a do loop");
}

}  // namespace
}  // namespace regraph::dry_run_test
