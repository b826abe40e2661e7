// Runs a program with our runtime in libcudart's place, and answers what its processes ask.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "capture/device/program_listener.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::capture {

struct ProgramRun {
  std::vector<std::string> command;         // the program's path and its arguments; not empty
  std::filesystem::path runtime_directory;  // folder of our libcudart; empty: the program's own
  double wall_seconds = 600.0;
  std::filesystem::path output = {};        // file for its standard output; empty: this process's
  std::filesystem::path directory = {};     // that it runs in; empty: this process's
  std::filesystem::path errors = {};        // file for its standard error; empty: this process's
  std::vector<std::string> variables = {};  // "NAME=value", of its environment
};

struct ProgramEnd {
  int exit_code = 0;  // of the program, when it ended by itself
  int signal = 0;     // that ended it, else 0
  bool timed_out = false;
  bool asked = false;            // anything of the runtime
  bool too_long_output = false;  // it was ended, having written more than anybody reads
  double seconds = 0.0;
};

// Starts the program with this process's standard streams, environment and folder, and waits for
// its end; it is killed with all of its process group after wall_seconds and when cancelled. All
// of its processes see one device. Errors: not_found or io (it cannot be started), resource.
[[nodiscard]] Result<ProgramEnd> capture_program(const ProgramRun& run, ProgramListener& device,
                                                 const Cancellation& cancellation);

}  // namespace regraph::capture
