// What is known of functions that kernels call.
#pragma once

#include "source/expressions.h"

#include <string_view>

namespace regraph::source {

[[nodiscard]] bool is_atomic(std::string_view function);
[[nodiscard]] bool is_warp_intrinsic(std::string_view function);
// Side-effect-free scalar mathematics.
[[nodiscard]] bool is_pure_function(std::string_view function);
// Functions that read memory through their argument and do nothing else.
[[nodiscard]] bool reads_through_argument(std::string_view function);

// The same of calls, with what is known of the function's body.
[[nodiscard]] bool is_pure(const Call& call);
// Whether the call may read memory by itself, whatever its arguments read.
[[nodiscard]] bool call_reads(const Call& call);
// Whether all that the call may do besides giving a value is to use memory.
[[nodiscard]] bool only_uses_memory(const Call& call);

}  // namespace regraph::source
