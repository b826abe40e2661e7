#include "learn/learning_report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace regraph::learn::learning_report_test {
namespace {

LearningReport example() {
  LearningReport report;
  report.title = "Learning of 2 families";
  report.budget = 20;
  report.at = {5, 10};
  report.labels = {"plain", "learned", "never run"};
  report.curves["plain"] = {{{"map", {0.2, 0.4}}, {"sum", {0.4, 0.6}}},
                            {{"map", 10.0}, {"sum", 30.0}},
                            {{"map", std::log(2.0)}, {"sum", std::log(2.0)}}};
  report.curves["learned"] = {{{"map", {0.5, 0.7}}, {"sum", {0.7, 0.9}}},
                              {{"map", 5.0}, {"sum", 15.0}},
                              {{"map", std::log(4.0)}, {"sum", std::log(4.0)}}};
  report.mean_shares = {{"plain", {0.0, 0.25, 1.5}}, {"learned", {0.5, 0.75}}};
  report.comparisons = {{"learned", "plain"}, {"learned", "never run"}};
  report.rankings = {{"prior", {0.25, 0.5, 3.5, 40, 2}}};
  report.notes = {"a note"};
  return report;
}

TEST(LearningReport, TellsMeansOverFamilies) {
  const std::string text = report_text(example());
  EXPECT_NE(text.find("plain                      0.300   0.500    20.0     2.00x\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("learned                    0.600   0.800    10.0     4.00x\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("learned against plain\n  share at 5            +0.300 "), std::string::npos)
      << text;
  EXPECT_NE(text.find("  evaluations to 95 %   -10.000 "), std::string::npos) << text;
  EXPECT_EQ(text.find("never run"), std::string::npos);
  EXPECT_NE(text.find("a note\n"), std::string::npos);
}

TEST(LearningReport, IsJsonToo) {
  LearningReport report = example();
  report.mean_shares.erase("plain");  // nobody watched
  const auto json = nlohmann::json::parse(report_json(report));
  EXPECT_EQ(json["schema"], "regraph-learning/1");
  EXPECT_EQ(json["at"], nlohmann::json({5, 10}));
  ASSERT_EQ(json["ways"].size(), 2U);
  EXPECT_EQ(json["ways"][0]["label"], "plain");
  EXPECT_EQ(json["ways"][0]["mean_share"], nlohmann::json::array());
  EXPECT_EQ(json["ways"][1]["share"]["sum"], nlohmann::json({0.7, 0.9}));
  EXPECT_EQ(json["ways"][1]["mean_share"], nlohmann::json({0.5, 0.75}));
  ASSERT_EQ(json["comparisons"].size(), 1U);
  const auto& differences = json["comparisons"][0]["differences"];
  ASSERT_EQ(differences.size(), 4U);
  EXPECT_EQ(differences[1]["what"], "share at 10");
  EXPECT_NEAR(differences[1]["mean"].get<double>(), 0.3, 1e-12);
  EXPECT_NEAR(differences[3]["mean"].get<double>(), std::log(2.0), 1e-12);
  EXPECT_EQ(differences[3]["families"], 2);
  EXPECT_EQ(json["rankings"][0]["mean_rank"], 3.5);
  EXPECT_EQ(json["notes"][0], "a note");
}

TEST(LearningReport, DrawsALineALabel) {
  LearningReport report = example();
  report.title = "a < b & c";
  report.labels[1] = "\"learned\" <x>";
  report.mean_shares[report.labels[1]] = report.mean_shares.at("learned");
  const std::string picture = report_picture(report);
  EXPECT_TRUE(picture.starts_with("<svg "));
  EXPECT_TRUE(picture.ends_with("</svg>\n"));
  std::size_t lines = 0;
  for (std::size_t at = picture.find("<polyline"); at != std::string::npos;
       at = picture.find("<polyline", at + 1))
    ++lines;
  EXPECT_EQ(lines, 2U);
  EXPECT_EQ(picture.find("dasharray"), std::string::npos);
  // Colours come round again after ten; the eleventh line is told from the first by dashes.
  const std::string label = report.labels[1];
  for (int more = 0; more < 9; ++more) {
    report.labels.push_back("more" + std::to_string(more));
    report.mean_shares[report.labels.back()] = report.mean_shares.at(label);
  }
  EXPECT_NE(report_picture(report).find("stroke-dasharray=\"9 3\""), std::string::npos);
  // From the first evaluation on, 0 at the bottom, and never above 1.
  EXPECT_NE(picture.find("points=\"60.0,390.0 86.3,302.5 112.6,40.0 \""), std::string::npos)
      << picture;
  // Text stays text.
  EXPECT_NE(picture.find(">a &lt; b &amp; c</text>"), std::string::npos);
  EXPECT_NE(picture.find(">\"learned\" &lt;x&gt;</text>"), std::string::npos);
}

}  // namespace
}  // namespace regraph::learn::learning_report_test
