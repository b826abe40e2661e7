// From a kernel's file and what was asked for, or from the records of a run, to one text for the
// device compiler and one manifest.
#pragma once

#include "base/result.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/manifest.h"
#include "kernel/scalar_type.h"
#include "kernel/tuning_schema.h"
#include "search/run_description.h"
#include "session/session_error.h"
#include "session/session_options.h"
#include "source/extract.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

// One parameter of a sequential function.
struct SequentialParameter {
  std::string name;
  ScalarType type = ScalarType::f32;  // of an element for pointers
  bool is_pointer = false;
  bool is_result = false;  // no parameter of it: what it returns
};

// The sequential function that kernels are made of.
struct SequentialSource {
  std::string file;      // the user's, as it was named
  std::string function;  // empty: the only one that has a loop
  std::string qualified_name;
  std::vector<std::string> include_directories;
  std::vector<std::pair<std::string, std::string>> defines;
  std::vector<SequentialParameter> parameters;  // in order, known once kernels were made of it
};

struct ProblemSource {
  std::string command;           // of regraph-search, for messages: opens the same problem again
  std::string file_text;         // as the user wrote it, own headers put in
  std::string source;            // device code alone, with #line where lines were left out
  std::string library_source;    // the same with the includes of libraries that NVRTC cannot take
  std::string kernel;            // plain name of the kernel to optimise
  std::string qualified_kernel;  // with its namespaces, as name expressions have it
  source::ExtractionRequest extraction;         // what `source` was cut out by
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
  // When the input is C++ without kernels: `source` and `kernel` are made of it later.
  std::optional<SequentialSource> sequential;
  // When the input is a Python file with a Triton kernel: `source` and `kernel` are cut out of it
  // later.
  bool is_triton = false;
  std::vector<std::string> notes;
};

// Reads the files. Errors: usage (an option, a file or a manifest that cannot be read),
// unusable_kernel (the file holds no usable kernel).
[[nodiscard]] Result<ProblemSource, SessionError> read_problem_source(
    const ProblemOptions& options);

// What the search of a run was given, from its records alone. Error: usage, a damaged record.
[[nodiscard]] Result<ProblemSource, SessionError> recorded_problem_source(
    const RunDescription& description);

// Cuts the kernels that the manifest names out of the file's text, with what they mention. Error:
// unusable_kernel.
[[nodiscard]] Result<void, SessionError> cut_out_kernels(ProblemSource& input);

// Cuts out once more, with what declares names that the compiler found undefined in `source`
// (source/extract.h). Returns whether that made a difference, and adds a note then.
[[nodiscard]] bool declare_undefined(ProblemSource& input, const std::vector<std::string>& names);

// kernel.cu -> kernel.regraph.yaml, loops.cpp with its function saxpy -> loops.saxpy.regraph.yaml
[[nodiscard]] std::string sidecar_of(const std::string& kernel_file,
                                     const std::string& function = {});

}  // namespace regraph
