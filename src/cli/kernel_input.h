// From a kernel's file and the flags to one text for the device compiler and one manifest.
#pragma once

#include "base/result.h"
#include "cli/search_options.h"
#include "kernel/manifest.h"
#include "kernel/tuning_schema.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::cli {

struct KernelInput {
  std::string file_text;            // as the user wrote it, own headers put in
  std::string source;               // device code alone, with #line where lines were left out
  std::string kernel;               // plain name of the kernel to optimise
  std::vector<std::string> others;  // of the other kernels that the manifest launches
  Manifest manifest;                // sidecar, front matter or nothing, with the flags applied
  bool has_manifest = false;
  std::optional<Dim3> block;           // --block, for a launch that is yet to be inferred
  std::optional<TuningSchema> schema;  // instead of a manifest, when the input is a T1 file
  std::string kernel_file;             // the .cu, also when a T1 file names it
  std::vector<std::string> notes;
};

// On an error `unusable` tells exit code 4 (the file holds no usable kernel) from 2 (a flag, a file
// or a manifest that cannot be read).
[[nodiscard]] Result<KernelInput> read_kernel_input(const SearchOptions& options, bool& unusable);

// kernel.cu -> kernel.regraph.yaml
[[nodiscard]] std::string sidecar_of(const std::string& kernel_file);

}  // namespace regraph::cli
