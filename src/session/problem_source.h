// From a kernel's file and what was asked for, or from the records of a run, to one text for the
// device compiler and one manifest.
#pragma once

#include "base/result.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/manifest.h"
#include "kernel/tuning_schema.h"
#include "search/run_description.h"
#include "session/session_error.h"
#include "session/session_options.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct ProblemSource {
  std::string command;         // of regraph-search, for messages: opens the same problem again
  std::string file_text;       // as the user wrote it, own headers put in
  std::string source;          // device code alone, with #line where lines were left out
  std::string library_source;  // the same with the includes of libraries that NVRTC cannot take
  std::string kernel;          // plain name of the kernel to optimise
  std::vector<std::string> template_arguments;  // of that kernel, where it is a template
  int launch_line = 0;                          // of the launch that is meant; 0: none is named
  std::vector<std::string> others;              // of the other kernels that the manifest launches
  Manifest manifest;  // sidecar, front matter or nothing, with the options applied
  bool has_manifest = false;
  std::vector<std::string> sizes_given;  // names, by the options
  std::optional<Dim3> block;             // of the options, for a launch that is yet to be inferred
  std::optional<TuningSchema> schema;    // instead of a manifest, when the input is a T1 file
  std::string kernel_file;               // the .cu, also when a T1 file or a folder names it
  // What a program launched, when the input is a folder of it; the manifest is made of that.
  std::optional<capture::CapturedKernel> capture;
  std::vector<std::string> notes;
};

// Reads the files. Errors: usage (an option, a file or a manifest that cannot be read),
// unusable_kernel (the file holds no usable kernel).
[[nodiscard]] Result<ProblemSource, SessionError> read_problem_source(
    const ProblemOptions& options);

// What the search of a run was given, from its records alone. Error: usage, a damaged record.
[[nodiscard]] Result<ProblemSource, SessionError> recorded_problem_source(
    const RunDescription& description);

// kernel.cu -> kernel.regraph.yaml
[[nodiscard]] std::string sidecar_of(const std::string& kernel_file);

}  // namespace regraph
