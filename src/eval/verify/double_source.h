// The same CUDA C++ computed in double precision.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace regraph::verify {

// Replaces float by double in device code: types and their vectors, literals (a double of the same
// value), functions of CUDA's math library and intrinsics. Comments, strings and #include lines
// stay as they are. Error: unsupported, naming what has no counterpart: bit patterns of floats,
// half types, inline assembly.
[[nodiscard]] Result<std::string> in_double(std::string_view source);

}  // namespace regraph::verify
