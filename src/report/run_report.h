// Everything there is to tell about one run, as plain data.
#pragma once

#include "eval/model/device.h"
#include "kernel/problem.h"
#include "search/config.h"
#include "search/outcome.h"

#include <string>

namespace regraph {

struct RunReport {
  const Problem& problem;
  const SearchOutcome& outcome;
  const SearchConfig& config;
  DeviceSpec device;
  std::string evaluator;     // "model"
  std::string directory;     // where the run's files are
  std::string verification;  // what verification covered, in words
  bool rewritable = true;    // false: the kernel is opaque to the rewriter
  std::string opaque_reason;

  [[nodiscard]] bool improved() const { return outcome.verdict == SpeedVerdict::fast; }
  // Whether what `best` names passed verification (the original counts: it is the reference).
  [[nodiscard]] bool verified() const { return !improved() || outcome.confirmed; }
  // baseline / best, 1 without an improvement.
  [[nodiscard]] double speedup() const;
  // From the ends of both intervals.
  [[nodiscard]] double speedup_low() const;
  [[nodiscard]] double speedup_high() const;
  // What the winner relies on beyond the original, as its steps noted.
  [[nodiscard]] std::vector<std::string> assumptions() const;
};

// The JSON result, schema "regraph-result/1", documented in docs/result.md.
[[nodiscard]] std::string result_json(const RunReport& report);

// The result for people.
[[nodiscard]] std::string result_text(const RunReport& report);

// "1.23 ms", three significant digits, with the unit that fits.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace regraph
