// Shared memory that a kernel declares.
#pragma once

#include "source/ir.h"

#include <cstdint>

namespace regraph::rewrite {

// Bytes of the variable, a scalar or an array of known extents.
[[nodiscard]] std::int64_t bytes_of(const source::Variable& variable);

// Bytes of all statically declared shared arrays.
[[nodiscard]] std::int64_t shared_bytes(const source::Kernel& kernel);

}  // namespace regraph::rewrite
