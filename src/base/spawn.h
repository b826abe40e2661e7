// Starts a program as a child process with limits of its own.
#pragma once

#include "base/file_descriptor.h"
#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <sys/types.h>
#include <vector>

namespace regraph {

// Resource limits of the child (setrlimit(2)); 0 leaves a limit as it is. Core dumps are always
// off.
struct ChildLimits {
  std::uint64_t address_space_bytes = 0;
  std::uint64_t cpu_seconds = 0;
  std::uint64_t file_bytes = 0;  // largest file it may write
  std::uint64_t open_files = 0;
};

struct SpawnRequest {
  std::filesystem::path program;            // a path; PATH is not searched
  std::vector<std::string> arguments;       // without argv[0]
  std::vector<std::string> environment;     // "NAME=value"; the parent's is never inherited
  std::filesystem::path working_directory;  // empty: the parent's
  ChildLimits limits;
  std::vector<int> descriptors;  // of the parent; the child has them as 3, 4, ... in this order
};

struct SpawnedProcess {
  pid_t id = 0;           // of the child and of its process group; whoever has it must reap it
  FileDescriptor input;   // the child's standard input, output and error: this end of each,
  FileDescriptor output;  // not blocking
  FileDescriptor error;
};

// Starts the program in a process group of its own. It dies with the calling thread. No other
// descriptor of this process reaches it. Safe to call from many threads at once. Errors: not_found
// or io (the program cannot be started), resource (no processes or descriptors left).
[[nodiscard]] Result<SpawnedProcess> spawn_process(const SpawnRequest& request);

}  // namespace regraph
