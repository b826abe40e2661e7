// A sequential function in the form that loops are looked for in.
#pragma once

#include "base/result.h"
#include "kernel/problem.h"
#include "source/clang_frontend.h"
#include "source/ir.h"

#include <string>

namespace regraph::loops {

struct SequentialFunction {
  source::Unit
      unit;  // its kernel is the function: counters, temporaries and pointers in plain form
  KernelSignature signature;
};

// Reads device code in which the function is a kernel (function_text.h), which the sandboxed
// compiler must have accepted. Errors: unsupported, with the line and what there is no form for.
[[nodiscard]] Result<SequentialFunction> read_function(
    const std::string& device_text, const std::string& name, const std::string& file_name,
    const source::FrontEndConfiguration& front_end);

}  // namespace regraph::loops
