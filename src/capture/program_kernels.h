// The device code of an executable or library.
#pragma once

#include "base/result.h"
#include "capture/kernel_image.h"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace regraph::capture {

struct ProgramKernel {
  KernelImage image;            // as of the newest architecture; of PTX alone where there is none
  std::set<int> architectures;  // that there is machine code for
  bool has_ptx = false;         // of the module that it is of: without it no other code can be made
};

struct ProgramKernels {
  std::vector<ProgramKernel> kernels;  // by symbol
  int images = 0;
  // The program asks for a runtime library that is loaded when it starts, in whose place another
  // may stand; false: it is linked statically, or not used.
  bool shared_runtime = false;
  // Libraries it asks for that bring kernels and a runtime of their own: "libcublas.so.13". Without
  // a GPU they compute nothing.
  std::vector<std::string> gpu_libraries;
  std::vector<std::string> notes;  // what could not be read, and why
};

// Reads a program built by nvcc. Errors: as read_file; parse, when it is no ELF file or its device
// code is damaged; unsupported, when there is none in it.
[[nodiscard]] Result<ProgramKernels> read_program_kernels(const std::filesystem::path& program);

}  // namespace regraph::capture
