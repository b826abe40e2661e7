// "regraph-capture run": a program on the interpreter in a GPU's place, and what it launched.
#pragma once

#include "cli/program.h"
#include "eval/model/device.h"

#include <string>
#include <vector>

namespace regraph::cli {

struct CaptureRunOptions {
  std::vector<std::string> command;
  std::string device = kDefaultDevice;
  std::string report;  // file for JSON; empty: none
  double wall_seconds = 600.0;
  double launch_seconds = 60.0;
  bool quiet = false;
};

// Runs it and says on standard error what was launched; standard output is the program's. Returns
// the exit code.
[[nodiscard]] int capture_run(const Program& program, const CaptureRunOptions& options);

}  // namespace regraph::cli
