#include "llm/prompt/facts_text.h"

#include <gtest/gtest.h>

namespace regraph::llm::facts_text_test {
namespace {

TEST(FactsText, SaysUnitAndMeaning) {
  EXPECT_EQ(facts_text({{"occupancy", 0.5}}, nullptr, 10),
            "occupancy: 50 %, resident warps over the maximum");
  EXPECT_EQ(facts_text({{"spill_bytes", 64.0}}, nullptr, 10),
            "spill_bytes: 64 bytes, spill stores and loads per thread after ptxas");
  EXPECT_EQ(facts_text({{"limited_by_registers", 1.0}}, nullptr, 10),
            "limited_by_registers: yes, registers limit the occupancy");
  EXPECT_EQ(
      facts_text({{"global_load_sectors_over_ideal", 8.0}}, nullptr, 10),
      "global_load_sectors_over_ideal: 8, sectors that global loads touch over the fewest that "
      "hold the bytes wanted, 1 is ideal");
  EXPECT_EQ(facts_text({}, nullptr, 10), "");
}

TEST(FactsText, EvidenceOfTheStepComesFirst) {
  Step step;
  step.evidence = {{.fact = "waves"}, {.fact = "l2_hit_rate"}};
  // l2_hit_rate is not known; waves is unremarkable, but the step asks for it.
  const std::string text = facts_text({{"waves", 50.0}, {"occupancy", 0.25}}, &step, 10);
  EXPECT_EQ(text,
            "waves: 50 waves, blocks over resident blocks of the whole GPU\n"
            "occupancy: 25 %, resident warps over the maximum");
}

TEST(FactsText, WhatIsOnlyRequiredIsLeftOut) {
  Step step;
  step.evidence = {{.fact = "loop_depth", .weight = 0.0, .required = true}, {.fact = "waves"}};
  EXPECT_EQ(facts_text({{"waves", 50.0}, {"loop_depth", 1.0}}, &step, 10),
            "waves: 50 waves, blocks over resident blocks of the whole GPU");
}

TEST(FactsText, UnremarkableFactsAreLeftOut) {
  const Facts facts = {{"waves", 50.0},
                       {"spill_bytes", 0.0},
                       {"global_load_sectors_per_request", 16.0},
                       {"global_load_sectors_over_ideal", 1.0},
                       {"l2_hit_rate", 0.0},
                       {"thread_efficiency", 1.0},
                       {"caveat_ptx_counts", 1.0}};
  EXPECT_EQ(facts_text(facts, nullptr, 10), "");
}

TEST(FactsText, LimitsOfAFullOccupancyAreLeftOut) {
  const Facts low = {{"occupancy", 0.5}, {"limited_by_warps", 1.0}};
  EXPECT_NE(facts_text(low, nullptr, 10).find("limited_by_warps: yes"), std::string::npos);
  const Facts full = {{"occupancy", 1.0}, {"limited_by_warps", 1.0}};
  EXPECT_EQ(facts_text(full, nullptr, 10).find("limited_by_warps"), std::string::npos);
}

TEST(FactsText, KeepsToItsLimit) {
  Facts facts;
  for (const FactDescription& fact : kFactDescriptions)
    facts[std::string(fact.name)] = 0.75;
  const std::string text = facts_text(facts, nullptr, 5);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 4);
}

TEST(FactsText, TimesHaveFourDigits) {
  EXPECT_EQ(time_text(0.272), "272 ms");
  EXPECT_EQ(time_text(1.25), "1.25 s");
  EXPECT_EQ(time_text(9.87654e-5), "98.77 us");
  EXPECT_EQ(time_text(5e-10), "0.5 ns");
}

}  // namespace
}  // namespace regraph::llm::facts_text_test
