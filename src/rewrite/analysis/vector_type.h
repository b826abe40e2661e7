// Neighbouring elements of an array that a thread moves together.
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

// `width` elements of a type, a power of two.
struct VectorShape {
  ScalarType scalar = ScalarType::f32;
  int width = 1;

  [[nodiscard]] int bytes() const { return static_cast<int>(size_in_bytes(scalar)) * width; }
  // What buffers have to be aligned to.
  [[nodiscard]] int alignment() const;
};

// Whether elements can be moved so: `width` is 2, 4, 8 or 16, and they are 64 bytes at most.
[[nodiscard]] bool can_be_moved(const VectorShape& shape);

// The name of a vector's component: "x", "y", "z" or "w".
[[nodiscard]] std::string component_name(int number);

}  // namespace regraph::rewrite
