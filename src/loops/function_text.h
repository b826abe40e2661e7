// A sequential C++ function as text that the CUDA front end reads.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace regraph::loops {

struct FunctionText {
  std::string text;            // the whole file; lines keep their numbers
  std::string name;            // of the function
  std::string qualified_name;  // with its namespaces
  std::string
      result;  // the parameter that what it returned is stored to; empty: it returns nothing
  int line = 0;
};

// The file with the function as a kernel of one thread and the functions that it calls as device
// code. Arrays of fixed extents among its parameters become pointers with one index, and what the
// function returns at its end goes to a last parameter. An empty name means the only function that
// has a loop. Errors: not_found (no such function, or several), unsupported (what it is passed,
// returns or uses cannot be had on a device), with the line.
[[nodiscard]] Result<FunctionText> function_as_kernel(std::string_view text,
                                                      const std::string& name);

// Whether the file is one of sequential C or C++, by its name's ending.
[[nodiscard]] bool is_sequential_file(std::string_view file);

}  // namespace regraph::loops
