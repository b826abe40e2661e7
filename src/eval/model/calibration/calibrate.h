// A calibration: each family predicted by a fit that never saw it, then a fit to everything.
#pragma once

#include "base/cancellation.h"
#include "eval/model/calibration/fit.h"
#include "eval/model/calibration/rank_statistics.h"

#include <span>
#include <string>
#include <vector>

namespace regraph::calibration {

// How the model predicts one family, or all together, with three sets of numbers.
struct Comparison {
  RankQuality shipped;   // the table as it was
  RankQuality left_out;  // fitted to the other families
  RankQuality fitted;    // fitted to all
};

struct FamilyResult {
  std::string family;
  Comparison quality;
  DeviceSpec left_out;  // fitted to the other families
};

struct Calibration {
  Fit fit;                             // to all samples
  std::vector<Parameter> parameters;   // what was fitted
  std::vector<FamilyResult> families;  // by name; none of those for fitting only
  // Over the families: medians of tau and rho (of those that have one) and of the regret, mean of
  // the recalls; errors over all variants of these families. `count` is the number of variants.
  Comparison overall;
  std::size_t fitting_only = 0;   // samples of micro-kernels
  RelativeError fitting_shipped;  // their errors with the table as it was
  RelativeError fitting_fitted;   // and with the fit, which saw them
};

// Cancelled: what there is so far, which is of no use.
[[nodiscard]] Calibration calibrate(const DeviceSpec& start, std::span<const Sample> samples,
                                    const Cancellation& cancellation);

}  // namespace regraph::calibration
