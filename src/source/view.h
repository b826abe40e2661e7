// Memory seen as another type: float4 and its like over an array of scalars.
#pragma once

#include "source/ir.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regraph::source {

// ((const float4*)address)[index], where the address is a pointer or array, one with an offset, or
// that of an element.
struct View {
  std::string vector;                        // "float4"; of views as scalars the scalar's spelling
  ScalarType scalar{};                       // of a component
  std::int64_t width = 1;                    // components
  const VariableReference* array = nullptr;  // what is below
  // The element of the array that the first component is, where the array's elements are of the
  // type `scalar` and it has one dimension; the caller has to know that they are.
  ExprPtr first;
};

// The view that the expression accesses memory through; nothing for anything else, and for types
// that are no scalars and no vectors of CUDA.
[[nodiscard]] std::optional<View> view_of(const Expr& access);

}  // namespace regraph::source
