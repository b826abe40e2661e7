// What a GPU evaluator did and where its time went.
#pragma once

#include <chrono>
#include <mutex>
#include <string>

namespace regraph::gpu {

// Seconds are of all threads together.
struct GpuStatistics {
  int evaluated = 0;
  int timed = 0;
  int pruned = 0;         // left at their prediction
  int faults_on_gpu = 0;  // of candidates that the interpreter passed
  int exact_looks = 0;    // outputs judged on inputs whose sums are exact
  int double_looks = 0;   // and by the original in double precision
  int workers = 0;        // processes started, of all kinds
  int devices = 0;        // GPUs in use
  double compile_and_verify_seconds = 0.0;
  double model_seconds = 0.0;
  double probation_seconds = 0.0;
  double timing_seconds = 0.0;
  double furnishing_seconds = 0.0;  // part of timing: processes, inputs, expected outputs
  double profiling_seconds = 0.0;
  double answer_seconds = 0.0;   // the last measurement and the sanitizer
  double waiting_seconds = 0.0;  // for a GPU
  int profiled = 0;              // kernels whose counters were read
  std::string no_counters;       // why none could be; empty otherwise
  double noise = 0.0;            // A/A of the present best, largest of the bench sizes
  double clock_hertz = 0.0;
  double original_seconds = 0.0;  // its first timing on the first GPU
};

// Statistics that several threads add to. Thread-safe.
class GpuStatisticsLog {
 public:
  void count(int GpuStatistics::*what) {
    const std::lock_guard lock(mutex_);
    ++(statistics_.*what);
  }
  void add(double GpuStatistics::*what, double seconds) {
    const std::lock_guard lock(mutex_);
    statistics_.*what += seconds;
  }
  // The first reason stays.
  void no_counters(const std::string& reason) {
    const std::lock_guard lock(mutex_);
    if (statistics_.no_counters.empty()) statistics_.no_counters = reason;
  }
  [[nodiscard]] GpuStatistics read() const {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

 private:
  mutable std::mutex mutex_;
  GpuStatistics statistics_;
};

// Adds the seconds until its end to a total.
class Stopwatch {
 public:
  Stopwatch(GpuStatisticsLog& log, double GpuStatistics::*total) : log_(log), total_(total) {}
  ~Stopwatch() { log_.add(total_, std::chrono::duration<double>(Clock::now() - start_).count()); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  GpuStatisticsLog& log_;
  double GpuStatistics::*total_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace regraph::gpu
