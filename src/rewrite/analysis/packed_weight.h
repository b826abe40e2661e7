// A weight of four bits that a word holds: (float)(((word >> 4 * j) & 15) - zero), with conversions
// anywhere. Used by quantized_product.
#pragma once

#include "rewrite/forms/ir.h"

#include <cstdint>
#include <optional>

namespace regraph::rewrite {

struct PackedWeight {
  ExprPtr word;  // an element of 32 bits
  int nibble = 0;
  std::int64_t zero = 0;  // 0 to 15
};

// Nothing where the value is no such weight, as a number.
[[nodiscard]] std::optional<PackedWeight> packed_weight_of(const ExprPtr& value);

}  // namespace regraph::rewrite
