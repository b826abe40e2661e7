#include "learn/loop_record.h"

#include "learn/examples.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace regraph::learn::loop_record_test {
namespace {

RunDigest held(const std::string& kernel, const std::string& family, const std::string& label,
               std::vector<double> curve) {
  RunDigest digest = examples::digest(kernel, family, {});
  digest.label = label;
  digest.curve = std::move(curve);
  return digest;
}

TEST(LoopRecord, ScoresCountFamiliesAlike) {
  std::vector<double> slow(30, 0.5);
  std::fill(slow.begin() + 19, slow.end(), 1.0);
  const std::vector<RunDigest> digests = {
      held("k1", "a", "held-out-0", std::vector<double>(30, 1.0)),
      held("k2", "a", "held-out-0", slow), held("k3", "b", "held-out-0", slow),
      held("k3", "b", "held-out-1", std::vector<double>(30, 2.0))};
  const HeldOutScore score = held_out_score(digests, "held-out-0", 30);
  EXPECT_EQ(score.families, 2);
  ASSERT_EQ(score.shares.size(), 2U);
  // b's best is 2, which another search found.
  EXPECT_DOUBLE_EQ(score.shares[0], ((1.0 + 0.5) / 2.0 + 0.25) / 2.0);
  EXPECT_DOUBLE_EQ(score.shares[1], (1.0 + 0.5) / 2.0);
  EXPECT_DOUBLE_EQ(score.share_at_end, (1.0 + 0.5) / 2.0);
  const double slow_mean = (19 * 0.5 + 11 * 1.0) / 30.0;
  EXPECT_NEAR(score.mean_share, ((1.0 + slow_mean) / 2.0 + slow_mean / 2.0) / 2.0, 1e-12);
  EXPECT_DOUBLE_EQ(score.evaluations_to_95, ((1.0 + 20.0) / 2.0 + 45.0) / 2.0);
  EXPECT_EQ(held_out_score(digests, "nobody", 30).families, 0);
  // What lies beyond the budget is not told.
  EXPECT_EQ(held_out_score(digests, "held-out-0", 20).shares.size(), 1U);
}

TEST(LoopRecord, OnlyWhatFindsAsMuchAndSoonerIsKept) {
  const HeldOutScore before = {{0.5, 0.6}, 0.9, 0.7, 30.0, 4};
  const auto with = [&](double at_end, double mean) {
    HeldOutScore score = before;
    score.share_at_end = at_end;
    score.mean_share = mean;
    return is_better(score, before);
  };
  EXPECT_TRUE(with(0.9, 0.71));
  EXPECT_TRUE(with(0.896, 0.71));
  EXPECT_FALSE(with(0.89, 0.8));
  EXPECT_FALSE(with(0.95, 0.69));
  EXPECT_FALSE(with(0.9, 0.7));
}

TEST(LoopRecord, TellsTheSettingsItWasMadeWith) {
  LoopIteration iteration;
  iteration.number = 1;
  iteration.kernels = 7;
  iteration.before = {{0.5, 0.6}, 0.9, 0.7, 30.0, 4};
  iteration.after = {{0.6, 0.7}, 0.95, 0.8, 20.0, 4};
  iteration.promoted = true;
  const std::string text = loop_json("seed 1", {{iteration}});
  const auto settings = loop_settings(text, "loop.json");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(*settings, "seed 1");
  const auto json = nlohmann::json::parse(text);
  EXPECT_EQ(json["iterations"][0]["after"]["share"]["25"], 0.7);
  EXPECT_EQ(json["iterations"][0]["promoted"], true);
  for (const char* damaged : {"", "{", "[]", "{\"format\": \"regraph-loop/2\"}",
                              "{\"format\": \"regraph-loop/1\", \"settings\": 3}"}) {
    const auto error = loop_settings(damaged, "loop.json");
    ASSERT_FALSE(error) << damaged;
    EXPECT_TRUE(error.error().message.starts_with("loop.json: ")) << damaged;
  }
  EXPECT_EQ(iteration_text(iteration),
            "iteration 1: 7 kernels searched, 0 tries, 0 states; held out (4 families): 0.600 at "
            "10, 0.700 at 25, 0.950 at the end, 0.800 on average, 20.0 evaluations to 95 %; "
            "before: 0.500 at 10, "
            "0.600 at 25, 0.900 at the end, 0.700 on average, 30.0 evaluations to 95 %; promoted");
}

}  // namespace
}  // namespace regraph::learn::loop_record_test
