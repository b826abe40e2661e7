// Which names of lanes and keys travel: every broker takes the same.
#pragma once

#include "base/result.h"

#include <string_view>

namespace regraph::fleet {

// Letters, digits, '-' and '.', 1 to 100 of them, else invalid_argument.
[[nodiscard]] Status check_lane(std::string_view lane);

// Letters, digits, '-' and '_', 1 to 200 of them, else invalid_argument.
[[nodiscard]] Status check_key(std::string_view key);

}  // namespace regraph::fleet
