// Whether machine code of an architecture still looks as this room believes.
//
// Nothing of it is documented, and a new compiler may change any of it. A small kernel with known
// parts is compiled for the architecture, and what is read from its cubin must show those parts,
// each at the PTX line that it was made from. Who counts in machine code asks once an architecture
// and compiler, and falls back on PTX when the answer is no.
#pragma once

#include "base/result.h"
#include "ptx/interpreter.h"
#include "sass/machine_code.h"

#include <string_view>

namespace regraph::sass {

// CUDA source of the kernel to be compiled, and its name.
[[nodiscard]] std::string_view check_source();
inline constexpr std::string_view kCheckKernel = "regraph_machine_code_check";

// `code` and `program` are of check_source(). Error: unsupported, saying what was not found.
[[nodiscard]] Status check_machine_code(const MachineCode& code, const ptx::Program& program);

}  // namespace regraph::sass
