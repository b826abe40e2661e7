// Everything there is to tell about one run, as plain data.
#pragma once

#include "eval/model/device.h"
#include "kernel/measured_speedup.h"
#include "kernel/problem.h"
#include "kernel/sanitizer_report.h"
#include "report/hand_back_report.h"
#include "report/model_use.h"
#include "report/program_run.h"
#include "search/config.h"
#include "search/outcome.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

// How a GPU was used.
struct Measurement {
  std::string gpu;           // "NVIDIA H200"
  int driver_version = 0;    // 13000 for CUDA 13.0
  int timed = 0;             // candidates
  int pruned = 0;            // left at their prediction
  int faults = 0;            // on the GPU, of candidates that the interpreter passed
  int workers = 0;           // processes started
  int devices = 1;           // GPUs used
  double noise = 0.0;        // A/A, relative
  double clock_hertz = 0.0;  // of the SMs while timing, 0 when not known
  // Seconds of all threads.
  double compile_and_verify_seconds = 0.0;
  double model_seconds = 0.0;
  double probation_seconds = 0.0;
  double timing_seconds = 0.0;
  double furnishing_seconds = 0.0;  // part of timing_seconds
  double profiling_seconds = 0.0;
  double answer_seconds = 0.0;  // the last measurement and the sanitizer
  double waiting_seconds = 0.0;
  int profiled = 0;         // kernels whose hardware counters were read
  int exact_looks = 0;      // outputs at the bench size judged on small integers
  std::string no_counters;  // why none could be; empty otherwise
  // The answer once more beside the original; none without an answer, or when it could not be had.
  std::optional<MeasuredSpeedup> speedup = std::nullopt;
  // Seen on the GPUs before or after the search: other processes, clocks held down by heat.
  std::vector<std::string> disturbances = {};
  // The answer under compute-sanitizer; none without an answer or without the tool.
  std::optional<SanitizerReport> sanitizer = std::nullopt;
};

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
