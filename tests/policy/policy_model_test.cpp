#include "policy/policy_model.h"

#include "policy/policy_case.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace regraph::policy::policy_model_test {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kHuge = std::numeric_limits<float>::max();

std::string hex(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "%08x", std::bit_cast<std::uint32_t>(value));
  return text;
}
std::string hex(const EdgeOpinion& opinion) {
  return hex(opinion.correction) + " " + hex(opinion.log_gain) + " " + hex(opinion.best_below);
}
std::vector<std::string> hex(const std::vector<EdgeOpinion>& opinions) {
  std::vector<std::string> result;
  for (const EdgeOpinion& opinion : opinions)
    result.push_back(hex(opinion));
  return result;
}

PolicyReader reader_of(PolicyModel model) {
  auto reader = PolicyReader::make(std::move(model));
  if (!reader) throw std::runtime_error(reader.error().message);
  return *std::move(reader);
}

// Rows of one state: what is the state's is equal, and some numbers are not known.
std::vector<std::vector<float>> sampled_rows(const FeatureLayout& layout, std::size_t count) {
  std::vector<std::vector<float>> rows(count, std::vector<float>(layout.size()));
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t at = 0; at < layout.size(); ++at) {
      const std::size_t number = at < layout.first_of_edge() ? at : at + 1000 * (row + 1);
      rows[row][at] = number % 11 == 3 ? kNaN : 4.0F * test::sample(number);
    }
  }
  return rows;
}

// One network that gives these whatever it reads.
PolicyModel constant_model(float correction, float log_gain, float best_below) {
  PolicyModel model;
  model.inputs = {"history.depth"};
  model.means = {0.0F};
  model.scales = {1.0F};
  model.networks.emplace_back(1, 1, kOpinionSize).second_biases = {correction, log_gain,
                                                                   best_below};
  return model;
}

EdgeOpinion opinion_of(const PolicyModel& model, float depth = 0.0F) {
  const PolicyReader reader = reader_of(model);
  std::vector<float> row(reader.layout().size(), 0.0F);
  row[*reader.layout().place("history.depth")] = depth;
  return reader.opinions({row}).front();
}

TEST(Standardised, CountsDeviationsUpToFour) {
  EXPECT_EQ(standardised(3.0F, 1.0F, 0.5F), 1.0F);
  EXPECT_EQ(standardised(1.0F, 1.0F, 0.5F), 0.0F);
  EXPECT_EQ(standardised(9.0F, 1.0F, 0.5F), 4.0F);
  EXPECT_EQ(standardised(8.9F, 1.0F, 0.5F), (8.9F - 1.0F) * 0.5F);
  EXPECT_EQ(standardised(90.0F, 1.0F, 0.5F), 4.0F);
  EXPECT_EQ(standardised(-7.0F, 1.0F, 0.5F), -4.0F);
  EXPECT_EQ(standardised(-90.0F, 1.0F, 0.5F), -4.0F);
  EXPECT_EQ(standardised(90.0F, 1.0F, -0.5F), -4.0F);
}

TEST(Standardised, IsANumberWhateverItIsGiven) {
  EXPECT_EQ(standardised(kNaN, 1.0F, 0.5F), 0.0F);
  EXPECT_EQ(standardised(kInfinity, 1.0F, 0.5F), 4.0F);
  EXPECT_EQ(standardised(-kInfinity, 1.0F, 0.5F), -4.0F);
  EXPECT_EQ(standardised(kInfinity, 1.0F, 0.0F), 0.0F);
  EXPECT_EQ(standardised(kHuge, -kHuge, kHuge), 4.0F);
}

TEST(PolicyModel, CorrectionsAreTrustedByDepth) {
  PolicyModel model = constant_model(2.0F, 0.5F, 0.25F);
  model.trust = {0.25F, 0.75F};
  const EdgeOpinion first = opinion_of(model, 0.0F);
  EXPECT_EQ(first.correction, 0.5F);
  EXPECT_EQ(first.log_gain, 0.5F);
  EXPECT_EQ(first.best_below, 0.25F);
  EXPECT_EQ(opinion_of(model, 1.0F).correction, 1.5F);
  EXPECT_EQ(opinion_of(model, 7.0F).correction, 1.5F);
}

TEST(PolicyModel, FindsWhatDoesNotFit) {
  EXPECT_EQ(test::small_model().inconsistency(), "");
  const std::vector<std::pair<const char*, std::function<void(PolicyModel&)>>> damages = {
      {"no inputs", [](PolicyModel& model) { model = {}; }},
      {"no networks", [](PolicyModel& model) { model.networks.clear(); }},
      {"networks beyond number",
       [](PolicyModel& model) { model.networks.resize(65, model.networks.front()); }},
      {"an input twice", [](PolicyModel& model) { model.inputs[1] = model.inputs[0]; }},
      {"an empty input", [](PolicyModel& model) { model.inputs[0].clear(); }},
      {"an input of two lines", [](PolicyModel& model) { model.inputs[0] += "\nx"; }},
      {"a step twice", [](PolicyModel& model) { model.steps[1] = model.steps[0]; }},
      {"an empty step", [](PolicyModel& model) { model.steps[0].clear(); }},
      {"a mean less", [](PolicyModel& model) { model.means.pop_back(); }},
      {"a scale more", [](PolicyModel& model) { model.scales.push_back(1.0F); }},
      {"a mean that is none", [](PolicyModel& model) { model.means[2] = kNaN; }},
      {"an endless scale", [](PolicyModel& model) { model.scales[2] = kInfinity; }},
      {"a trust beyond one", [](PolicyModel& model) { model.trust.below = 1.5F; }},
      {"a trust that is none", [](PolicyModel& model) { model.trust.at_original = kNaN; }},
      {"other inputs",
       [](PolicyModel& model) {
         model.networks[1] = {3, 5, kOpinionSize};
       }},
      {"other outputs",
       [](PolicyModel& model) {
         model.networks[1] = {model.inputs.size(), 5, 2};
       }},
      {"no units",
       [](PolicyModel& model) {
         model.networks[1] = {model.inputs.size(), 0, kOpinionSize};
       }},
      {"a weight less", [](PolicyModel& model) { model.networks[0].first_weights.pop_back(); }},
      {"a bias more", [](PolicyModel& model) { model.networks[0].first_biases.push_back(0.0F); }},
      {"weights of others", [](PolicyModel& model) { model.networks[0].second_weights.clear(); }},
      {"no biases", [](PolicyModel& model) { model.networks[0].second_biases.clear(); }},
      {"a weight that is none",
       [](PolicyModel& model) { model.networks[1].first_weights[7] = kNaN; }},
      {"an endless bias",
       [](PolicyModel& model) { model.networks[1].second_biases[0] = -kInfinity; }},
  };
  for (const auto& [what, damage] : damages) {
    PolicyModel model = test::small_model();
    damage(model);
    EXPECT_NE(model.inconsistency(), "") << what;
    const auto reader = PolicyReader::make(model);
    ASSERT_FALSE(reader) << what;
    EXPECT_EQ(reader.error().code, ErrorCode::parse) << what;
  }
}

TEST(PolicyReader, RefusesInputsThatItDoesNotKnow) {
  for (const char* input : {"fact.of_the_future", "step.coalesce_swap", "occupancy"}) {
    PolicyModel model = test::small_model();
    model.inputs[3] = input;
    const auto reader = PolicyReader::make(model);
    ASSERT_FALSE(reader) << input;
    EXPECT_EQ(reader.error().code, ErrorCode::unsupported);
    EXPECT_NE(reader.error().message.find(input), std::string::npos) << reader.error().message;
  }
}

// What the edges of a state share is worked out once, which nobody may notice.
TEST(PolicyReader, ReadsAStatesRowsAsEachAlone) {
  for (const bool mixed : {false, true}) {
    PolicyModel model = test::small_model();
    // An input of the state behind one of the edge is not shared.
    if (mixed) std::swap(model.inputs[1], model.inputs[6]);
    const PolicyReader reader = reader_of(model);
    const auto rows = sampled_rows(reader.layout(), 9);
    const auto together = reader.opinions(rows);
    ASSERT_EQ(together.size(), rows.size());
    for (std::size_t row = 0; row < rows.size(); ++row) {
      EXPECT_EQ(hex(together[row]), hex(reader.opinions({rows[row]}).front()));
      // By the networks themselves.
      std::vector<float> values;
      for (std::size_t input = 0; input < model.inputs.size(); ++input) {
        values.push_back(standardised(rows[row][*reader.layout().place(model.inputs[input])],
                                      model.means[input], model.scales[input]));
      }
      const auto first = model.networks[0].evaluate(values);
      const auto second = model.networks[1].evaluate(values);
      EXPECT_EQ(hex(together[row]),
                hex({(first[0] + second[0]) / 2.0F, (first[1] + second[1]) / 2.0F,
                     (first[2] + second[2]) / 2.0F}));
    }
    EXPECT_NE(hex(together[0]), hex(together[1]));
  }
  EXPECT_TRUE(reader_of(test::small_model()).opinions({}).empty());
}

TEST(PolicyReader, TakesWhatIsNotKnownForItsMean) {
  const PolicyReader reader = reader_of(test::small_model());
  auto rows = sampled_rows(reader.layout(), 2);
  for (std::size_t input = 0; input < reader.model().inputs.size(); ++input) {
    const std::size_t place = *reader.layout().place(reader.model().inputs[input]);
    rows[0][place] = kNaN;
    rows[1][place] = reader.model().means[input];
  }
  const auto opinions = reader.opinions(rows);
  EXPECT_EQ(hex(opinions[0]), hex(opinions[1]));
}

TEST(PolicyReader, BoundsCorrectionsAlone) {
  EXPECT_EQ(hex(opinion_of(constant_model(1.5F, -2.0F, 3.0F))), hex({1.5F, -2.0F, 3.0F}));
  EXPECT_EQ(hex(opinion_of(constant_model(20.5F, 30.0F, 40.0F))), hex({20.0F, 30.0F, 40.0F}));
  EXPECT_EQ(hex(opinion_of(constant_model(-1e30F, -30.0F, 0.0F))), hex({-20.0F, -30.0F, 0.0F}));
  // The mean of the networks is bounded, not each.
  PolicyModel two = constant_model(60.0F, 0.0F, 0.0F);
  two.networks.push_back(constant_model(-50.0F, 0.0F, 0.0F).networks.front());
  EXPECT_EQ(opinion_of(two).correction, 5.0F);
}

// A journal has no way to write what is not finite, and a prior would not be a number.
TEST(PolicyReader, SaysNothingWhereWeightsAddUpToNoNumber) {
  PolicyModel model = constant_model(1.0F, 2.0F, 3.0F);
  model.networks.front().first_weights = {kHuge};
  model.networks.front().second_weights = {1.0F, 0.0F, 1.0F};  // 0 times infinity
  ASSERT_EQ(model.inconsistency(), "");
  EXPECT_EQ(hex(opinion_of(model, 0.0F)), hex({1.0F, 2.0F, 3.0F}));
  EXPECT_EQ(hex(opinion_of(model, 4.0F)), hex(EdgeOpinion{}));
  PolicyModel two = constant_model(0.0F, kHuge, 0.0F);
  two.networks.push_back(two.networks.front());
  EXPECT_EQ(hex(opinion_of(two)), hex(EdgeOpinion{}));
}

// Bits that any machine and any build must give. They differ with another order of summation and
// with fused multiply-adds.
TEST(PolicyReader, GivesTheSameBitsEverywhere) {
  const PolicyReader reader = reader_of(test::small_model());
  const auto opinions = hex(reader.opinions(sampled_rows(reader.layout(), 6)));
  EXPECT_EQ(opinions, (std::vector<std::string>{
                          "3bdf8dc0 bf44e049 3f9ff293",
                          "3f1f6a9e bd539710 bef3f40e",
                          "3e03269e 3eacac44 be1a40a0",
                          "3de4775c bf919977 3f7e587a",
                          "3ebd4730 3e6c3c2e bf08e3a3",
                          "3df2167c 3ea5de1e bd57bc34",
                      }));
}

}  // namespace
}  // namespace regraph::policy::policy_model_test
