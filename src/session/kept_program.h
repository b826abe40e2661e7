// A program built, run on the interpreter and kept as problem folders: what regraph-capture does,
// and regraph-search with a program's source.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "capture/device/capture_device.h"
#include "capture/device/capture_program.h"
#include "capture/problem/problem_keeper.h"
#include "eval/model/device.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph {

// Where a program runs while it is captured.
enum class CapturePlace : std::uint8_t { interpreter, gpu };

struct KeepRequest {
  std::vector<std::vector<std::string>> commands;  // the program and its arguments; further runs
  std::string build;                               // a .cu file to build the program of
  std::string make;                                // a shell command that builds it; or nothing
  std::string device = kDefaultDevice;
  std::filesystem::path source;  // of the kernels; empty: looked for in this folder
  std::vector<std::filesystem::path> include_directories;  // of their own headers, further ones
  capture::KeepOptions keep;
  double wall_seconds = 600.0;  // of each run
  double launch_seconds = 60.0;
  CapturePlace place = CapturePlace::interpreter;
  bool goes_on = false;  // after launches that took longer, as CaptureDeviceConfig
};

struct KeptProgram {
  std::vector<capture::KeptFolder> folders;  // the kernel with the most work first
  std::vector<capture::ProgramEnd> ends;     // of the runs
  std::vector<std::string> notes;
  std::filesystem::path output;  // file with what the first run wrote
};

// Builds `file` with nvcc into `program`, with the runtime that programs at this place need: shared
// for the interpreter. Error: usage, with nvcc's words.
[[nodiscard]] Result<void, SessionError> build_program(const std::filesystem::path& file,
                                                       const std::filesystem::path& program,
                                                       CapturePlace place,
                                                       const Cancellation& cancellation);

// Builds and runs what is asked for. Errors: usage, unusable_kernel (nothing was launched),
// internal, interrupted. What was kept stays also when the program fails.
[[nodiscard]] Result<KeptProgram, SessionError> keep_program(const KeepRequest& request,
                                                             const Installation& installation,
                                                             const Cancellation& cancellation);

}  // namespace regraph
