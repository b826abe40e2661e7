// What lies behind pointers, and what vectors take. Used by packed_copies and packed_arrays.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <optional>
#include <string>

namespace regraph::rewrite {

struct ElementType {
  std::string name;  // without const
  ScalarType scalar{};
};

// Of what the pointer of that name leads to, a parameter or one of the kernel's own; nothing for
// names of anything else, and for pointers to what is no scalar.
[[nodiscard]] std::optional<ElementType> element_behind(const std::string& pointer,
                                                        const Kernel& kernel,
                                                        const Analysis& analysis);

// The bytes of "int4" and its like; 0 for other types.
[[nodiscard]] std::int64_t bytes_of_vector(const std::string& type);

}  // namespace regraph::rewrite
