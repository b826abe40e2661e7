#include "eval/model/calibration/calibrate.h"

#include "eval/model/calibration/report.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <string>
#include <vector>

namespace regraph::calibration::calibrate_test {
namespace {

DeviceSpec h200() {
  return *find_device("h200");
}

// Variants of a kernel that moves `bytes`, `slower` times as slow as the table says.
void add_family(std::vector<Sample>& samples, const std::string& family, double slower,
                bool fitting_only = false) {
  for (int i = 1; i <= 10; ++i) {
    const double bytes = 1e8 * i;
    const auto predict = [bytes](const DeviceSpec& device) {
      return device.kernel_launch_seconds + bytes / device.dram_bytes_per_second;
    };
    samples.push_back({family + " " + std::to_string(i), family, fitting_only,
                       slower * predict(h200()), predict});
  }
}

TEST(Calibrate, AFamilyIsPredictedByAFitThatNeverSawIt) {
  std::vector<Sample> samples;
  add_family(samples, "a", 1.0);
  add_family(samples, "b", 1.0);
  add_family(samples, "odd", 1.6);
  add_family(samples, "micro", 1.0, true);
  const Cancellation never;
  const Calibration calibration = calibrate(h200(), samples, never);
  ASSERT_EQ(calibration.families.size(), 3U);
  EXPECT_EQ(calibration.fitting_only, 10U);
  EXPECT_EQ(calibration.fitting_shipped.mean, 0.0);
  EXPECT_GT(calibration.fitting_fitted.mean, 0.0);  // the odd family has its vote
  const FamilyResult& odd = calibration.families[2];
  EXPECT_EQ(odd.family, "odd");
  // Everything else agrees with the table, so without the odd family nothing moves at all.
  EXPECT_EQ(odd.left_out, h200());
  EXPECT_NEAR(odd.quality.left_out.error.mean, 1.0 - 1.0 / 1.6, 1e-9);
  EXPECT_EQ(odd.quality.shipped.error.mean, odd.quality.left_out.error.mean);
  // With it, the fit gives way.
  EXPECT_LT(odd.quality.fitted.error.mean, odd.quality.shipped.error.mean);
  EXPECT_LT(calibration.families[0].left_out.dram_bytes_per_second, h200().dram_bytes_per_second);
  EXPECT_EQ(calibration.overall.shipped.count, 30U);
  EXPECT_EQ(calibration.overall.shipped.tau, 1.0);
  EXPECT_EQ(calibration.overall.shipped.recall, 1.0);
  EXPECT_EQ(calibration.overall.shipped.regret, 1.0);
}

TEST(Calibrate, LowersTheErrorWhereAllFamiliesAgree) {
  std::vector<Sample> samples;
  for (const char* family : {"a", "b", "c", "d"})
    add_family(samples, family, 1.25);
  const Cancellation never;
  const Calibration calibration = calibrate(h200(), samples, never);
  EXPECT_NEAR(calibration.overall.shipped.error.mean, 0.2, 1e-9);
  EXPECT_LT(calibration.overall.left_out.error.mean, 0.05);
  EXPECT_LT(calibration.overall.fitted.error.mean, 0.05);
}

TEST(Calibrate, StopsWhenCancelled) {
  std::vector<Sample> samples;
  add_family(samples, "a", 1.0);
  Cancellation cancellation;
  cancellation.request();
  EXPECT_TRUE(calibrate(h200(), samples, cancellation).families.empty());
}

TEST(Calibrate, TheReportHoldsEveryFamilyAndEveryNumber) {
  std::vector<Sample> samples;
  add_family(samples, "alpha", 1.25);
  add_family(samples, "beta", 1.25);
  const Cancellation never;
  const Calibration calibration = calibrate(h200(), samples, never);
  const std::string report = calibration_report(h200(), calibration, "20 samples of a test.");
  for (const char* part : {"| alpha | 10 | 1.00 / 1.00 / 1.00 |", "| beta | 10 |",
                           "| **overall** | 20 |", "20.0 % / ", "20 samples of a test.",
                           "| `l1_latency` | 32 | 32 | +0.0 % |", "no sample depends on it"}) {
    EXPECT_NE(report.find(part), std::string::npos) << part << "\n" << report;
  }
  const auto sources = fitted_sources(h200(), calibration);
  EXPECT_EQ(sources.size(), calibration.parameters.size());
  EXPECT_EQ(sources.at("dram_bytes_per_second"), "fitted, was 4.25e+12");
}

}  // namespace
}  // namespace regraph::calibration::calibrate_test
