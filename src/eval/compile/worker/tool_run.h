// Programs that the worker starts: nvcc and ptxas.
#pragma once

#include <string>
#include <vector>

namespace regraph::compile_internal {

struct ToolRun {
  int status = 0;   // as waitpid gives it
  std::string log;  // what it printed on both its outputs, the beginning where it is too long
};

struct ToolCommand {
  std::string program;
  std::vector<std::string> arguments;
  std::vector<std::string> environment;  // "NAME=value"; all that it gets
  std::string directory;                 // where it runs
};

// Runs the program to its end. It and what it starts inherit this process' sandbox and limits. The
// status is that of exit code 127 where it cannot be started.
[[nodiscard]] ToolRun run_tool(const ToolCommand& command);

// Lets this user have so many more processes and threads than there are now (RLIMIT_NPROC counts
// all of them), unless the system counts more than can be seen from here. Must be called before the
// sandbox is entered.
void limit_processes(unsigned further);

}  // namespace regraph::compile_internal
