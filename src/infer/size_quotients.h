// What a kernel does with two of its sizes: channels / heads, width - filter + 1.
#pragma once

#include "source/ir.h"

#include <string>
#include <utility>
#include <vector>

namespace regraph::infer {

// Integer parameters and the ones that divide them, as {"channels", "heads"}: the kernel takes the
// first as a multiple of the second.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> size_quotients(
    const source::Kernel& kernel);

// Integer parameters that are subtracted from others and from which nothing is subtracted: of a
// filter, say, smaller than what it is moved over.
[[nodiscard]] std::vector<std::string> small_sizes(const source::Kernel& kernel);

}  // namespace regraph::infer
