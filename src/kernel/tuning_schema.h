// T1 files, the input format that the auto-tuners Kernel Tuner and KTT share ("TuningSchema"): one
// kernel with its arguments, launch and tuning parameters, as JSON or YAML.
//
// Of a T1 file the first value of every tuning parameter is taken (its Default where it has one)
// and defined as a macro. Sizes in it are numbers; where the source shows the same length as an
// expression of the kernel's integer parameters, that is used, so that small test sizes exist.
#pragma once

#include "base/result.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

// One argument, in the order of the kernel's parameters.
struct SchemaArgument {
  bool is_scalar = false;
  std::optional<double> value;  // scalars
  std::int64_t elements = 0;    // vectors
  Direction direction = Direction::inout;
  BufferInit init;
  std::string symbol;  // MemoryType Symbol: name of the __constant__ variable, no parameter
  int line = 0;
};

struct TuningSchema {
  std::string path;
  std::string kernel_file;  // as written: relative to the T1 file
  Manifest manifest;        // kernel, defines and launch with literal grid
  std::vector<SchemaArgument> arguments;
  std::vector<std::string> notes;  // what of the file is not used
};

// Whether `text` looks like a T1 file: a top-level key KernelSpecification.
[[nodiscard]] bool is_tuning_schema(std::string_view text);

// Errors as "path:line: ...": parse, invalid_argument (a missing or malformed key), unsupported
// (fill types and memory types without a counterpart here).
[[nodiscard]] Result<TuningSchema> parse_tuning_schema(std::string_view text, std::string path);

// The manifest for a kernel with these parameters. Error: invalid_argument when their number or
// kinds differ.
[[nodiscard]] Result<Manifest> bind_arguments(const TuningSchema& schema,
                                              const KernelSignature& signature);

// Replaces lengths and the grid that a schema gives as numbers by the inferred expressions that
// have the same value.
void prefer_expressions(const Manifest& inferred, Manifest& bound);

}  // namespace regraph
