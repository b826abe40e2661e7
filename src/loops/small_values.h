// Integer expressions worked out at small sizes.
#pragma once

#include "source/analysis.h"
#include "source/ir.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace regraph::loops {

using Values = std::map<std::string, std::int64_t>;

// The value where parameters and counters are `values`; names that the kernel defines once are
// followed. Nothing where it depends on memory, calls or floating point.
[[nodiscard]] std::optional<std::int64_t> value_at(const source::ExprPtr& expr,
                                                   const Values& values,
                                                   const source::Analysis& analysis);

}  // namespace regraph::loops
