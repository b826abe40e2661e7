// Runs a program as a limited, disposable child process and collects what it says.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/spawn.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

struct ChildRequest {
  std::filesystem::path program;            // a path; PATH is not searched
  std::vector<std::string> arguments;       // without argv[0]
  std::vector<std::string> environment;     // "NAME=value"; the parent's is never inherited
  std::filesystem::path working_directory;  // empty: the parent's
  std::string_view input;                   // bytes for standard input
  std::size_t output_limit_bytes = std::size_t{64}
                                   << 20;                 // more on standard output kills the child
  std::size_t error_limit_bytes = std::size_t{64} << 10;  // more on standard error is dropped
  double wall_seconds = 60.0;
  ChildLimits limits;
};

enum class ChildEnd : std::uint8_t {
  exited,        // `exit_code` is valid
  signalled,     // `signal` is valid: the child crashed or hit a limit
  timed_out,     // killed after wall_seconds
  output_limit,  // killed for writing too much
  cancelled,     // killed because the caller asked to stop
};

struct ChildOutcome {
  ChildEnd end = ChildEnd::exited;
  int exit_code = 0;
  int signal = 0;
  std::string output;
  std::string error;  // standard error
  double wall_seconds = 0.0;
  double cpu_seconds = 0.0;
  std::uint64_t peak_memory_bytes = 0;
  [[nodiscard]] bool succeeded() const { return end == ChildEnd::exited && exit_code == 0; }
};

// Runs the program to its end. It gets a process group of its own, which is killed as a whole, also
// when the child itself ends: no grandchild survives. The child dies with the calling thread. Safe
// to call from many threads at once. Errors: not_found or io (the program cannot be started),
// resource (no processes or descriptors left).
[[nodiscard]] Result<ChildOutcome> run_child(const ChildRequest& request,
                                             const Cancellation& cancellation);

}  // namespace regraph
