#include "report/report_test_support.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::result_json_test {
namespace {

using nlohmann::json;

TEST(ResultJson, HoldsEverythingThatIsPromised) {
  const test::Run run(true);
  const std::string text = result_json(run.report());
  EXPECT_EQ(text.back(), '\n');
  const json result = json::parse(text);
  EXPECT_EQ(result.at("schema"), "regraph-result/1");
  EXPECT_EQ(result.at("status"), "improved");
  EXPECT_EQ(result.at("kernel"), "scale");
  EXPECT_EQ(result.at("source"), "examples/scale.cu");
  EXPECT_EQ(result.at("device"), "h200");
  EXPECT_EQ(result.at("architecture"), "sm_90");
  EXPECT_EQ(result.at("evaluator"), "model");
  EXPECT_EQ(result.at("method"), "predicted");
  EXPECT_EQ(result.at("verified"), true);
  EXPECT_DOUBLE_EQ(result.at("baseline").at("seconds"), 1e-3);
  EXPECT_DOUBLE_EQ(result.at("baseline").at("interval").at(0), 0.8e-3);
  EXPECT_DOUBLE_EQ(result.at("best").at("seconds"), 0.25e-3);
  EXPECT_EQ(result.at("best").at("path"), "out/best.cu");
  EXPECT_EQ(result.at("best").at("manifest"), "out/best.regraph.yaml");
  const json& steps = result.at("best").at("steps");
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[0].at("step"), "restrict_ldg");
  EXPECT_TRUE(steps[0].at("parameters").is_object());
  EXPECT_EQ(steps[1].at("parameters").at("x"), "128");
  EXPECT_NEAR(steps[1].at("gain").get<double>(), 2.0, 1e-12);
  EXPECT_NEAR(result.at("speedup").get<double>(), 4.0, 1e-12);
  EXPECT_NEAR(result.at("speedup_interval").at(0).get<double>(), 0.8e-3 / 0.3e-3, 1e-9);
  EXPECT_NEAR(result.at("speedup_interval").at(1).get<double>(), 1.2e-3 / 0.2e-3, 1e-9);
  EXPECT_EQ(result.at("evaluations"), 12);
  EXPECT_EQ(result.at("verdicts"), (json{{"correct", 9}, {"wrong_result", 3}}));
  EXPECT_DOUBLE_EQ(result.at("search_seconds"), 1.25);
  const json& workers = result.at("workers");
  EXPECT_EQ(workers.at("jobs"), run.report().config.jobs);
  EXPECT_DOUBLE_EQ(workers.at("busy"), 3.0);
  EXPECT_EQ(workers.at("ahead").at("used"), 5);
  EXPECT_EQ(workers.at("ahead").at("in_vain"), 2);
  EXPECT_EQ(result.at("seed"), 7);
  EXPECT_FALSE(result.contains("opaque"));
}

TEST(ResultJson, WithoutAnImprovementTheBestIsTheOriginal) {
  const test::Run run(false);
  const json result = json::parse(result_json(run.report()));
  EXPECT_EQ(result.at("status"), "no_improvement");
  EXPECT_EQ(result.at("speedup"), 1.0);
  EXPECT_EQ(result.at("speedup_interval"), (json{1.0, 1.0}));
  EXPECT_EQ(result.at("best").at("steps"), json::array());
  EXPECT_EQ(result.at("best").at("seconds"), result.at("baseline").at("seconds"));
  EXPECT_EQ(result.at("verified"), true);
}

TEST(ResultJson, AnUnconfirmedWinnerIsNotCalledVerified) {
  test::Run run(true);
  run.outcome.confirmed = false;
  EXPECT_EQ(json::parse(result_json(run.report())).at("verified"), false);
}

TEST(ResultJson, SaysWhyAKernelIsOpaqueAndSurvivesForeignBytes) {
  const test::Run run(false);
  RunReport report = run.report("d\xff\"\n");
  report.rewritable = false;
  report.opaque_reason = "k.cu:3: 'do' loop \xc3\x28";
  const json result = json::parse(result_json(report));
  EXPECT_NE(result.at("opaque").get<std::string>().find("'do' loop"), std::string::npos);
}

TEST(ResultJson, TheLastMeasurementIsTheSpeedup) {
  const test::Run run(true);
  RunReport report = run.report();
  EXPECT_TRUE(
      nlohmann::json::parse(result_json(report)).value("measurement", nlohmann::json()).is_null());
  Measurement measurement;
  measurement.gpu = "NVIDIA H200";
  report.measurement = measurement;
  EXPECT_TRUE(nlohmann::json::parse(result_json(report))["measurement"]["final"].is_null());
  MeasuredSpeedup last;
  last.processes = 3;
  last.cold = {3.9, 3.85, 3.95};
  last.benches.push_back({{{"n", 1024}}, {1e-3, 0.256e-3, 600, last.cold}, {}});
  report.measurement->speedup = last;
  const auto json = nlohmann::json::parse(result_json(report));
  EXPECT_EQ(json["speedup"], 3.9);
  EXPECT_EQ(json["speedup_interval"], (nlohmann::json{3.85, 3.95}));
  const auto& bench = json["measurement"]["final"]["benches"][0];
  EXPECT_EQ(bench["sizes"], (nlohmann::json{{"n", 1024}}));
  EXPECT_EQ(bench["cold"]["samples"], 600);
  EXPECT_EQ(bench["cold"]["interval"], (nlohmann::json{3.85, 3.95}));
  EXPECT_TRUE(json["work"]["flops"].is_null());
}

TEST(ResultJson, DisturbancesAndTheSanitizerAreTold) {
  const test::Run run(true);
  RunReport report = run.report();
  report.measurement.emplace();
  auto json = nlohmann::json::parse(result_json(report))["measurement"];
  EXPECT_EQ(json["disturbances"], nlohmann::json::array());
  EXPECT_TRUE(json["sanitizer"].is_null());
  report.measurement->disturbances = {"heat"};
  report.measurement->sanitizer = SanitizerReport{{"memcheck"}, {"memcheck: finding"}, {"note"}};
  json = nlohmann::json::parse(result_json(report))["measurement"];
  EXPECT_EQ(json["disturbances"], nlohmann::json::array({"heat"}));
  EXPECT_EQ(json["sanitizer"]["tools"], nlohmann::json::array({"memcheck"}));
  EXPECT_EQ(json["sanitizer"]["findings"], nlohmann::json::array({"memcheck: finding"}));
  EXPECT_EQ(json["sanitizer"]["notes"], nlohmann::json::array({"note"}));
}

TEST(ResultJson, TellsLaunchesPatchAndCheck) {
  const test::Run run(true);
  RunReport report = run.report();
  auto json = nlohmann::json::parse(result_json(report));
  EXPECT_FALSE(json.contains("patch"));
  EXPECT_FALSE(json.contains("check"));
  const auto& launch = json.at("best").at("launch");
  EXPECT_EQ(launch.at("original").at("block"), nlohmann::json({256, 1, 1}));
  EXPECT_EQ(launch.at("best").at("block"), nlohmann::json({128, 1, 1}));
  EXPECT_EQ(launch.at("best").at("grid").at(0), "cdiv(n, bx)");
  EXPECT_EQ(launch.at("best").at("bench").at("grid").at(0), 8);
  report.hand_back = HandBackReport{"--- a/k.cu\n", "", "", {"k.cu"}, {{"k.cu", 7, "g", "h"}}, {}};
  report.check = CheckReport{"make test", true, true, "", 0, 0, 2.0, 1.0, false, 3, {}};
  json = nlohmann::json::parse(result_json(report));
  EXPECT_EQ(json.at("patch").at("path"), "out/best.patch");
  EXPECT_EQ(json.at("patch").at("launches").at(0).at("after"), "h");
  EXPECT_EQ(json.at("check").at("patched_exit_code"), 0);
  report.check->patched_exit_code.reset();
  report.hand_back->patch.clear();
  json = nlohmann::json::parse(result_json(report));
  EXPECT_TRUE(json.at("check").at("patched_exit_code").is_null());
  EXPECT_TRUE(json.at("patch").at("path").is_null());
}

}  // namespace
}  // namespace regraph::result_json_test
