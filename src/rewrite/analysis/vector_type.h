// CUDA's vector types as one access moves them.
#pragma once

#include "kernel/scalar_type.h"
#include "rewrite/forms/ir.h"

#include <cstdint>
#include <string>

namespace regraph::rewrite {

// Bytes of the widest access of a thread.
inline constexpr std::int64_t kWidestAccess = 16;

// CUDA's vector type of `width` elements ("float4"), "" where there is none that one access can
// move.
[[nodiscard]] std::string vector_type(ScalarType scalar, int width);

// The name of a vector's component: "x", "y", "z" or "w".
[[nodiscard]] std::string component_name(int number);

}  // namespace regraph::rewrite
