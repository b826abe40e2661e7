// What a kernel does with two of its sizes: channels / heads, width - filter + 1.
#pragma once

#include "source/ir.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraph::infer {

// {"channels", "heads"}: the kernel takes the first as a multiple of the second.
using SizeQuotient = std::pair<std::string, std::string>;

// The largest multiple of `parts`, which is positive, up to `value`; `parts` where there is none.
[[nodiscard]] inline std::int64_t whole_parts(std::int64_t value, std::int64_t parts) {
  return std::max(value / parts, std::int64_t{1}) * parts;
}

// Integer parameters and the ones that divide them.
[[nodiscard]] std::vector<SizeQuotient> size_quotients(const source::Kernel& kernel);

// Integer parameters that are smaller than others as those of a filter are: subtracted from sizes
// without anything being subtracted from them, or in row * stride - padding + k * dilation what
// stands alone, scales a loop's counter or ends its loop, or the divisor of such a difference.
[[nodiscard]] std::vector<std::string> small_sizes(const source::Kernel& kernel);

}  // namespace regraph::infer
