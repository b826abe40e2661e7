#include "eval/model/reliability.h"

#include "eval/model/model_test_support.h"
#include "kernel/caveats.h"

#include <gtest/gtest.h>

namespace regraph::reliability_test {
namespace {

class Reliability : public ::testing::Test {
 protected:
  Reliability() : problem_(test::copy_problem()), kernel_(problem_, test::kCopy) {
    traffic = kernel_.sample().traffic;
    profile = kernel_.sample().profile;
    resources = kernel_.kernel().resources;
    bounds.dram = 1.0;
  }
  double assess() {
    facts.clear();
    return assess_reliability(
        {kernel_.program(), profile, traffic, resources, kernel_.launch(), kernel_.occupancy(),
         std::nullopt, std::nullopt, nullptr, spread_error},
        bounds, counted_in_ptx, facts);
  }

  ptx::CacheTraffic traffic;
  ptx::Profile profile;
  ResourceUsage resources;
  TimeBounds bounds;
  bool counted_in_ptx = false;
  double spread_error = 0.0;
  Facts facts;

 private:
  Problem problem_;
  test::SampledKernel kernel_;
};

TEST_F(Reliability, APlainPredictionHasNoCaveat) {
  EXPECT_DOUBLE_EQ(assess(), kPredictionUncertainty);
  EXPECT_TRUE(caveats_of(facts).empty());
}

TEST_F(Reliability, EveryCaveatWidensAndIsNamed) {
  double before = assess();
  const auto expect_wider = [&](const char* fact, std::size_t reasons) {
    const double now = assess();
    EXPECT_GT(now, before) << fact;
    EXPECT_TRUE(facts.contains(fact)) << fact;
    EXPECT_TRUE(is_known_fact(fact)) << fact;
    EXPECT_EQ(caveats_of(facts).size(), reasons);
    before = now;
  };
  traffic.truncated = true;
  expect_wider("caveat_truncated_trace", 1);
  EXPECT_DOUBLE_EQ(before, kTruncatedUncertainty);
  counted_in_ptx = true;
  expect_wider("caveat_ptx_counts", 2);
  bounds.issue = 1.05;
  expect_wider("caveat_close_bounds", 3);
  resources.spill_load_bytes = 8;
  expect_wider("caveat_local_memory", 4);
  traffic.atomics.hottest_floating_passes = 10;
  bounds.atomics = 0.5;
  expect_wider("caveat_float_atomics", 5);
  ptx::InstructionProfile& atomic = profile.instructions.emplace_back();
  atomic.instruction_class = ptx::InstructionClass::atomic_global;
  atomic.atomic_floating = true;
  atomic.requests = 1;
  atomic.access_bytes = 4;
  atomic.atomic_halves = true;  // a pair
  EXPECT_DOUBLE_EQ(assess(), before);
  atomic.access_bytes = 16;
  EXPECT_DOUBLE_EQ(assess(), before);
  atomic.access_bytes = 8;
  expect_wider("caveat_unmeasured_atomics", 6);
  EXPECT_LT(before, 0.9);
  spread_error = 0.05;
  expect_wider("caveat_unequal_blocks", 7);
  spread_error = 10.0;
  EXPECT_DOUBLE_EQ(assess(), 0.9);
}

TEST_F(Reliability, FloatAtomicsThatTakeNoTimeDoNotMatter) {
  traffic.atomics.hottest_floating_passes = 10;
  bounds.atomics = 0.01;
  EXPECT_DOUBLE_EQ(assess(), kPredictionUncertainty);
}

}  // namespace
}  // namespace regraph::reliability_test
