// A comparison of two kernels in words and as JSON.
#pragma once

#include "kernel/evaluation.h"
#include "kernel/measured_speedup.h"
#include "kernel/speed_verdict.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

// A kernel beside the original, as it is told.
struct ComparedKernel {
  std::string name;        // of its file, or the caller's own
  std::string no_reason;   // why it could not be judged at all; empty: it was
  Evaluation evaluation;   // its own
  bool equal = false;      // computes the same, twice
  bool same_code = false;  // machine code and launch are the original's
  SpeedVerdict verdict = SpeedVerdict::ambiguous;
  SpeedupEstimate speedup;
  std::optional<MeasuredSpeedup> measured;
  std::vector<std::string> notes;
  std::vector<std::string> assumes;  // what no test varied: Problem::held_fixed and its like
};

// "fast.cu: EQUAL, FASTER" and what stands behind it, some lines.
[[nodiscard]] std::string comparison_text(const ComparedKernel& compared);
// The original's line: time and what limits it.
[[nodiscard]] std::string original_text(const std::string& name, const Evaluation& original);
// One object of JSON on one line, without newline.
[[nodiscard]] std::string comparison_json(const ComparedKernel& compared,
                                          const Evaluation& original);

}  // namespace regraph
