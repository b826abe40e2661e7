// Which preprocessor lines an answer may hold.
#pragma once

#include "base/result.h"

#include <string_view>

namespace regraph::llm {

// Checks one preprocessor line, "#" first, continuations included. Accepted are #define and #undef
// of names that mean nothing yet, without token pasting; #if to #endif; #error; #pragma unroll;
// #include of device headers that the compiler has. The error (parse) says what is wrong.
[[nodiscard]] Status check_directive(std::string_view directive);

// Whether answers may include that header: "mma.h", "cuda_fp16.h", "cstdint", ...
[[nodiscard]] bool is_allowed_header(std::string_view name);

}  // namespace regraph::llm
