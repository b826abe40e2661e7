#include "search/outcome_rates.h"

#include <gtest/gtest.h>

namespace regraph::outcome_rates_test {
namespace {

TEST(OutcomeRates, GuessesCoverEverything) {
  OutcomeRates rates;
  for (int i = 0; i < 5; ++i)
    rates.measured(0.5);
  rates.measured(-0.2);
  for (int i = 0; i < 3; ++i)
    rates.failed();
  const auto guesses = rates.guesses();
  ASSERT_EQ(guesses.size(), 2U);
  EXPECT_DOUBLE_EQ(guesses[0].probability + guesses[1].probability, 1.0);
  EXPECT_DOUBLE_EQ(guesses[0].probability, 6.0 / 12.0);  // each as if seen once before
  EXPECT_TRUE(guesses[0].correct);
  EXPECT_GT(guesses[0].log_gain, 0.2);
  EXPECT_FALSE(guesses[1].correct) << "more failed than were slower";
}

TEST(OutcomeRates, TheOtherGuessIsWhatHappensMostOften) {
  OutcomeRates rates;
  for (int i = 0; i < 4; ++i)
    rates.measured(-0.3);
  const auto guesses = rates.guesses();
  EXPECT_TRUE(guesses[1].correct);
  EXPECT_LT(guesses[1].log_gain, 0.0);
}

}  // namespace
}  // namespace regraph::outcome_rates_test
