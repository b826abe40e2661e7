#include "search/budget_meter.h"

#include <gtest/gtest.h>

namespace regraph::budget_meter_test {
namespace {

TEST(BudgetMeter, DecliningCostsNothingUntilItIsAllThatHappens) {
  SearchConfig config;
  config.budget.evaluations = 5;
  BudgetMeter budget(config, 0.0);
  for (int answer = 0; answer < 10; ++answer)
    budget.declined();
  EXPECT_EQ(budget.fraction(), 0.0);
  EXPECT_TRUE(budget.may_issue(0));
  budget.declined();
  EXPECT_NEAR(budget.fraction(), 0.2, 1e-12);
  for (int answer = 0; answer < 4; ++answer)
    budget.declined();
  EXPECT_FALSE(budget.may_issue(0));
}

TEST(BudgetMeter, WhatWasPaidForInVainCounts) {
  SearchConfig config;
  config.budget.evaluations = 2;
  BudgetMeter budget(config, 0.0);
  budget.fruitless();
  EXPECT_TRUE(budget.may_issue(0));
  budget.fruitless();
  EXPECT_FALSE(budget.may_issue(0));
}

}  // namespace
}  // namespace regraph::budget_meter_test
