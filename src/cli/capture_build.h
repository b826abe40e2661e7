// "regraph-capture build": a build whose compile commands are kept for those who capture later.
#pragma once

#include "cli/program.h"
#include "session/compile_commands.h"

#include <string>
#include <vector>

namespace regraph::cli {

struct CaptureBuildOptions {
  std::vector<std::string> command;
  std::string output = kCompileCommandsFile;
  bool links_statically = false;
};

// Runs the command, in which nvcc links the shared runtime, and writes the file. Returns the exit
// code.
[[nodiscard]] int capture_build(const Program& program, const CaptureBuildOptions& options);

}  // namespace regraph::cli
