// Shared memory that a kernel declares.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>

namespace regraph::rewrite {

// Bytes of the variable, a scalar or an array of known extents.
[[nodiscard]] std::int64_t bytes_of(const Variable& variable);

// Bytes of all statically declared shared arrays.
[[nodiscard]] std::int64_t shared_bytes(const Kernel& kernel);

// Rows whose length is a multiple of this many elements put columns into few banks; others are
// taken as padded already.
inline constexpr std::int64_t kUnpaddedRowMultiple = 8;

// Whether every use of the array has an index for each extent, so that no address arithmetic knows
// the rows' length.
[[nodiscard]] bool is_fully_indexed(const Kernel& kernel, const Variable& array);

}  // namespace regraph::rewrite
