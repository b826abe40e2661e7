#include "learn/kernel_study.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace regraph::learn::kernel_study_test {
namespace {

StudyRequest example() {
  StudyRequest request;
  request.kernel = "a dir/\"odd\"\\.cu";
  request.family = "map";
  request.device = "h200";
  request.evaluator = "replay";
  request.output = "out";
  request.replace = true;
  request.any_build = true;
  request.derived = true;
  StudySearch all{"all", "beam", kFlatGraph,         "p.regraph-policy",
                  false, 17,     0xFFFFFFFFFFFFFFFF, {1.0 / 3.0, 4, 0.25, 0.125, 3.0}};
  request.searches = {all, {}};
  return request;
}

TEST(KernelStudy, SurvivesItsText) {
  const StudyRequest request = example();
  const auto again = read_study(study_text(request));
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->kernel, request.kernel);
  EXPECT_EQ(again->family, request.family);
  EXPECT_EQ(again->device, request.device);
  EXPECT_EQ(again->evaluator, request.evaluator);
  EXPECT_EQ(again->output, request.output);
  EXPECT_TRUE(again->replace);
  EXPECT_TRUE(again->any_build);
  EXPECT_TRUE(again->derived);
  ASSERT_EQ(again->searches.size(), 2U);
  for (std::size_t at = 0; at < 2; ++at) {
    const StudySearch& one = again->searches[at];
    const StudySearch& other = request.searches[at];
    EXPECT_EQ(one.label, other.label);
    EXPECT_EQ(one.searcher, other.searcher);
    EXPECT_EQ(one.graph, other.graph);
    EXPECT_EQ(one.policy, other.policy);
    EXPECT_EQ(one.learn, other.learn);
    EXPECT_EQ(one.evaluations, other.evaluations);
    EXPECT_EQ(one.seed, other.seed);
    EXPECT_EQ(one.changes.exploration, other.changes.exploration);
    EXPECT_EQ(one.changes.greedy_every, other.changes.greedy_every);
    EXPECT_EQ(one.changes.max_share, other.changes.max_share);
    EXPECT_EQ(one.changes.first_play_reduction, other.changes.first_play_reduction);
    EXPECT_EQ(one.changes.widening, other.changes.widening);
  }
  EXPECT_EQ(study_text(*again), study_text(request));
}

TEST(KernelStudy, RefusesWhatIsNoStudy) {
  using Json = nlohmann::ordered_json;
  const Json good = Json::parse(study_text(example()));
  const auto refused = [](const std::string& text) {
    const auto study = read_study(text);
    if (!study) {
      EXPECT_EQ(study.error().code, ErrorCode::parse);
    }
    return !study;
  };
  EXPECT_FALSE(refused(good.dump()));
  for (const char* text : {"", "null", "[]", "7", "{}", "{\"kernel\": \"k.cu\"", "\xff"})
    EXPECT_TRUE(refused(text)) << text;
  for (const auto& [key, value] : good.items()) {
    Json missing = good;
    missing.erase(key);
    EXPECT_TRUE(refused(missing.dump())) << key;
    Json other = good;
    other[key] = 7;
    EXPECT_TRUE(refused(other.dump())) << key;
  }
  for (const auto& [key, value] : good["searches"][0].items()) {
    Json missing = good;
    missing["searches"][0].erase(key);
    EXPECT_TRUE(refused(missing.dump())) << key;
    Json other = good;
    other["searches"][0][key] = Json::array({1});
    EXPECT_TRUE(refused(other.dump())) << key;
  }
  Json more = good;
  more["searches"][0]["colour"] = "red";
  EXPECT_TRUE(refused(more.dump()));
}

TEST(KernelStudy, DigestsAreCalledAfterTheirSearches) {
  EXPECT_EQ(digest_path("out", "mcgs-1"), std::filesystem::path("out/mcgs-1.json"));
  EXPECT_EQ(examples_path("out", "mcgs-1"), std::filesystem::path("out/mcgs-1.examples"));
}

}  // namespace
}  // namespace regraph::learn::kernel_study_test
