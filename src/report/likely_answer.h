// What a predicted search thinks is faster and cannot claim to be.
#pragma once

#include "report/run_report.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

// Predicted gains below this are left out. On an H200, of 35 candidates that were predicted to be
// 1.05 to 1.6 times as fast as the original, which is within the uncertainty of two predictions, 31
// were faster when they were measured (bench/kernels/h200/found.md).
inline constexpr double kLikelyGain = 1.05;

struct LikelyAnswer {
  const StateRecord* state = nullptr;  // of the report's outcome
  double speedup = 1.0;                // predicted, and the ratio of the outermost bounds
  double low = 1.0;
  double high = 1.0;
  std::vector<StepProposal> steps;  // from the original
};

// The correct candidate with the shortest predicted time, where a search whose times are predicted
// claims none to be faster and this one's is shorter by kLikelyGain.
[[nodiscard]] std::optional<LikelyAnswer> likely_answer(const RunReport& report);

// "1.33x by window(axis=y, rows=4)", with all its steps.
[[nodiscard]] std::string likely_text(const LikelyAnswer& answer);

}  // namespace regraph
