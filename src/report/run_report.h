// Everything there is to tell about one run, as plain data.
#pragma once

#include "eval/model/device.h"
#include "kernel/measurement.h"
#include "kernel/problem.h"
#include "report/hand_back_report.h"
#include "report/model_use.h"
#include "report/program_run.h"
#include "search/config.h"
#include "search/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct RunReport {
  const Problem& problem;
  const SearchOutcome& outcome;
  const SearchConfig& config;
  DeviceSpec device;
  std::string evaluator;     // "model", "gpu", "gpu-only"
  std::string directory;     // where the run's files are
  std::string verification;  // what verification covered, in words
  bool rewritable = true;    // false: the kernel is opaque to the rewriter
  std::string opaque_reason;
  std::optional<Measurement> measurement = std::nullopt;  // none: times are predicted
  std::optional<ModelUse> model_use = std::nullopt;       // none: no language model was asked
  // The program that the kernel was captured from, with the winner; none: there is no such.
  std::optional<ProgramRunReport> program = std::nullopt;
  std::optional<HandBackReport> hand_back = std::nullopt;  // none: there was no winner
  std::optional<CheckReport> check = std::nullopt;         // none: none was asked for

  // "best.cu", "best.py": of a kernel in the language that the problem's is in.
  [[nodiscard]] std::string kernel_file(const char* stem) const;
  // baseline / best, 1 without an improvement. As measured last, where it was.
  [[nodiscard]] double speedup() const;
  // 95 % of the last measurement; without one from the ends of both times' intervals.
  [[nodiscard]] double speedup_low() const;
  [[nodiscard]] double speedup_high() const;
  // What the winner relies on beyond the original, as its steps noted, and may rely on, as the
  // manifest says: buffers that hold a constant.
  [[nodiscard]] std::vector<std::string> assumptions() const;
};

// The JSON result, schema "regraph-result/1", documented in docs/result.md.
[[nodiscard]] std::string result_json(const RunReport& report);

// The result for people.
[[nodiscard]] std::string result_text(const RunReport& report);

// "1.23 ms", three significant digits, with the unit that fits.
[[nodiscard]] std::string duration_text(double seconds);

}  // namespace regraph
