// Integer parameters that say how far apart rows lie: row * stride + column.
#pragma once

#include "infer/access_summary.h"

#include <functional>
#include <map>
#include <string>

namespace regraph::infer {

// Strides with the least values at which rows do not overlap, in terms of sizes: what is one
// behind the other in row-major order. A parameter is a stride where it only ever multiplies an
// index of an access, beside other terms or other strides. Of those that `is_open` names.
[[nodiscard]] std::map<std::string, source::Polynomial> stride_values(
    const AccessSummary& summary, const std::function<bool(const std::string&)>& is_open);

}  // namespace regraph::infer
