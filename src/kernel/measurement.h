// What measuring on GPUs came to, beside the times themselves. Plain data.
#pragma once

#include "kernel/measured_speedup.h"
#include "kernel/sanitizer_report.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

// How a GPU was used.
struct Measurement {
  std::string gpu;                // "NVIDIA H200"
  int driver_version = 0;         // 13000 for CUDA 13.0
  int timed = 0;                  // candidates
  int pruned = 0;                 // left at their prediction
  int faults = 0;                 // on the GPU, of candidates that the interpreter passed
  int workers = 0;                // processes started
  int devices = 1;                // GPUs used
  double noise = 0.0;             // A/A, relative
  double clock_hertz = 0.0;       // of the SMs while timing, 0 when not known
  double original_seconds = 0.0;  // its first timing on the first GPU; 0 where there was none
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
  int double_looks = 0;     // and by the original in double precision
  std::string no_counters;  // why none could be; empty otherwise
  // The answer once more beside the original; none without an answer, or when it could not be had.
  std::optional<MeasuredSpeedup> speedup = std::nullopt;
  // Seen on the GPUs before or after the search: other processes, clocks held down by heat.
  std::vector<std::string> disturbances = {};
  // The answer under compute-sanitizer; none without an answer or without the tool.
  std::optional<SanitizerReport> sanitizer = std::nullopt;
};

// A search's answer, tried once more before its claim stands.
struct AnswerTrial {
  Measurement measurement;              // of all that was done on the GPUs up to then
  std::vector<std::string> objections;  // why the claim does not stand
  std::vector<std::string> notes;       // for people

  [[nodiscard]] bool stands() const { return objections.empty(); }
};

}  // namespace regraph
