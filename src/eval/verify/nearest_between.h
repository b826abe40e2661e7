// What an original leaves in a buffer depends on the order of its threads, and the user says that
// any of it will do.
#pragma once

#include "kernel/scalar_type.h"

#include <cstddef>
#include <span>
#include <vector>

namespace regraph::verify {

// For each element the value nearest to `actual` of those from `one` to `other`: `actual` itself
// where it lies between them, else the nearer of the two; `one` where there is no order among them
// (NaN). All three hold as many elements of `type`.
[[nodiscard]] std::vector<std::byte> nearest_between(ScalarType type,
                                                     std::span<const std::byte> one,
                                                     std::span<const std::byte> other,
                                                     std::span<const std::byte> actual);

}  // namespace regraph::verify
