// A shell command of the user's about a CUDA program, run to its end.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "session/installation.h"
#include "session/opened_problem.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

struct UserCommand {
  std::string command;           // for sh -c
  std::filesystem::path folder;  // that it runs in
  double seconds = 600.0;        // that it may take
  bool on_gpu = false;           // else our CUDA runtime runs kernels on the interpreter
};

// How it ended.
struct CommandRun {
  int exit_code = 0;  // 128 and the signal where one ended it
  double seconds = 0.0;
  std::string output;               // standard output
  std::string last_words;           // the last line of standard error
  std::uint64_t launches = 0;       // of the problem's kernel, on the interpreter
  bool asked = false;               // anything of the interpreter's runtime
  std::vector<std::string> faults;  // of kernels
  std::vector<std::string> notes;   // of the device
};

// It gets a process group of its own, which is killed as a whole. Without a GPU nvcc is told to
// link the shared runtime. Errors: resource (it takes too long, or writes more than 64 MiB), io.
[[nodiscard]] Result<CommandRun> run_user_command(const UserCommand& command,
                                                  const OpenedProblem& opened,
                                                  const Installation& installation,
                                                  const Cancellation& cancellation);

}  // namespace regraph
