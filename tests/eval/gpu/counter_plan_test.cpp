#include "eval/gpu/counters/counter_plan.h"

#include "eval/gpu/counters/counter_collector.h"
#include "eval/gpu/counters/metric_names.h"
#include "eval/gpu/real_cupti.h"
#include "kernel/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <dlfcn.h>
#include <set>

namespace regraph::gpu::counter_plan_test {
namespace {

class CounterPlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!test::kCuptiCanPlan) GTEST_SKIP() << "CUPTI does not plan under AddressSanitizer";
    api_ = test::real_cupti();
    if (!api_) GTEST_SKIP() << "this toolkit has no CUPTI";
  }
  std::shared_ptr<const CuptiApi> api_;
};

constexpr const char* kChips[] = {"GH100", "GA100", "GB100"};

TEST_F(CounterPlanTest, TiersTakeTheirPasses) {
  constexpr int kPasses[3][3] = {{1, 2, 6}, {2, 3, 7}, {1, 2, 6}};
  for (int chip = 0; chip < 3; ++chip) {
    int passes = 0;
    for (const CounterTier tier :
         {CounterTier::screening, CounterTier::detail, CounterTier::full}) {
      const auto plan = plan_counters(api_, kChips[chip], tier_metrics(tier));
      ASSERT_TRUE(plan.ok()) << plan.error().message;
      EXPECT_EQ(plan->passes, kPasses[chip][static_cast<int>(tier)]) << kChips[chip];
      EXPECT_TRUE(plan->unknown.empty()) << plan->unknown.front();
      EXPECT_EQ(plan->metrics.size(), tier_metrics(tier).size());
      EXPECT_FALSE(plan->configuration.empty());
      EXPECT_GT(plan->passes, passes);
      passes = plan->passes;
    }
  }
}

TEST_F(CounterPlanTest, UnknownMetricsAreSkippedAndNamed) {
  const std::string_view metrics[] = {"smsp__inst_executed.sum", "no__such_metric.sum",
                                      "smsp__inst_executed.nonsense", "",
                                      "smsp__inst_executed.sum"};
  const auto plan = plan_counters(api_, "GH100", metrics);
  ASSERT_TRUE(plan.ok()) << plan.error().message;
  EXPECT_EQ(plan->metrics, std::vector<std::string>{"smsp__inst_executed.sum"});
  EXPECT_EQ(plan->unknown,
            (std::vector<std::string>{"no__such_metric.sum", "smsp__inst_executed.nonsense", ""}));
  EXPECT_EQ(plan->passes, 1);
}

TEST_F(CounterPlanTest, NothingToCollectIsAnError) {
  const std::string_view metrics[] = {"no__such_metric.sum"};
  const auto plan = plan_counters(api_, "GH100", metrics);
  ASSERT_FALSE(plan.ok());
  EXPECT_EQ(plan.error().code, ErrorCode::not_found);
  EXPECT_FALSE(plan_counters(api_, "GH100", {}).ok());
}

TEST_F(CounterPlanTest, UnknownChipsAreErrors) {
  for (const char* chip : {"", "GX999", "gh100\n"}) {
    const auto plan = plan_counters(api_, chip, tier_metrics(CounterTier::screening));
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.error().code, ErrorCode::unsupported);
  }
  const auto chips = known_chips(*api_);
  ASSERT_TRUE(chips.ok());
  EXPECT_NE(std::find(chips->begin(), chips->end(), "GH100"), chips->end());
}

TEST_F(CounterPlanTest, CudaForgesMetricsAreAsTheTableSays) {
  EXPECT_EQ(cudaforge_metrics().size(), 24u);
  std::set<std::string_view> names;
  for (const MetricName& metric : cudaforge_metrics()) {
    EXPECT_TRUE(names.insert(metric.cudaforge).second) << metric.cudaforge;
    EXPECT_TRUE(metric.counter.empty() || metric.fact.empty()) << metric.cudaforge;
    if (!metric.fact.empty()) {
      EXPECT_TRUE(is_known_fact(metric.fact)) << metric.fact;
    }
    if (metric.counter != metric.cudaforge) {
      EXPECT_FALSE(metric.note.empty()) << metric.cudaforge;
    }
    for (const char* chip : kChips) {
      const auto plan = [&](std::string_view name) {
        const std::string_view one[] = {name};
        return plan_counters(api_, chip, one).ok();
      };
      EXPECT_EQ(plan(metric.cudaforge), metric.counter == metric.cudaforge) << metric.cudaforge;
      if (!metric.counter.empty()) {
        EXPECT_TRUE(plan(metric.counter)) << metric.counter << " on " << chip;
      }
    }
  }
}

// Where there is no driver, collecting is an error, not a crash.
TEST_F(CounterPlanTest, WithoutADriverNothingIsCollected) {
  if (::dlopen("libcuda.so.1", RTLD_NOW) != nullptr) GTEST_SKIP() << "there is a driver";
  EXPECT_FALSE(device_chip_name(*api_, 0).ok());
  EXPECT_FALSE(counter_availability(*api_, nullptr).ok());
  const auto plan = plan_counters(api_, "GH100", tier_metrics(CounterTier::screening));
  ASSERT_TRUE(plan.ok());
  EXPECT_FALSE(CounterCollector::create(api_, 0, nullptr, *plan).ok());
}

}  // namespace
}  // namespace regraph::gpu::counter_plan_test
