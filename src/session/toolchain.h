// What compiles and reads CUDA C++ on this machine.
#pragma once

#include "eval/compile/compiler.h"
#include "session/installation.h"
#include "session/session_error.h"
#include "source/clang_frontend.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace regraph {

struct Toolchain {
  std::unique_ptr<Compiler> compiler;       // in a sandboxed worker process; NVRTC at first
  source::FrontEndConfiguration front_end;  // Clang, in this process
  std::filesystem::path cuda_root;          // of the toolkit
  std::filesystem::path triton_scripts;     // folder of the programs that read Triton kernels
  std::optional<TritonToolkit> triton;      // known once a Triton kernel was opened
};

// Looks for a CUDA toolkit (docs/evaluation.md says where). The front end reads sources as for
// `architecture`, e.g. "sm_90". Starts nothing yet. Error: no_device.
[[nodiscard]] Result<Toolchain, SessionError> find_toolchain(const Installation& installation,
                                                             const std::string& architecture);

}  // namespace regraph
