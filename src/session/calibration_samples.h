// Measured kernels, as tools/calibrate collects them, made into samples of the timing model.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "eval/model/calibration/fit.h"
#include "source/clang_frontend.h"

#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// One correct candidate of a run.
struct MeasuredVariant {
  std::string steps;   // what made it, for people
  std::string source;  // empty: the run's own
  std::string plan;    // launch plan as the run database writes it; empty: the manifest's
  double seconds = 0.0;
  bool measured = false;  // false: predicted, which nothing can be fitted to
};

// One line of a file of samples (docs/simulator.md).
struct MeasuredRun {
  std::string place;  // "file:line"
  std::string name;   // of the run
  std::string family;
  std::string device;  // it ran on, by the name in its run database
  std::string kernel;
  std::string path;
  std::string source;
  std::string manifest;
  std::vector<MeasuredVariant> variants;
};

// Micro-kernels: each is a family "micro/KERNEL" that is fitted to, but not left out.
inline constexpr std::string_view kMicroFamily = "micro";

// Reads a file of one JSON object a line. Error, parse: "path:line: ..." for anything that is not
// what tools/calibrate writes.
[[nodiscard]] Result<std::vector<MeasuredRun>> parse_measured_runs(std::string_view text,
                                                                   const std::string& path);

struct GatheredSamples {
  std::vector<calibration::Sample> samples;
  std::vector<std::string> left_out;  // variants without a sample, and why, one line each
};

// Compiles every variant for the device, samples its launches and makes it a function of the
// device. Variants run in parallel. Sources are compiled in the compiler's sandbox before Clang
// reads them. Error: cancelled.
[[nodiscard]] Result<GatheredSamples> gather_samples(const std::vector<MeasuredRun>& runs,
                                                     const DeviceSpec& device, Compiler& compiler,
                                                     const source::FrontEndConfiguration& front_end,
                                                     const Cancellation& cancellation);

}  // namespace regraph
