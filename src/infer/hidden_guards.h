// Conditions that may bound a grid in a way which the inference does not see.
#pragma once

#include "infer/access_summary.h"
#include "kernel/expression.h"
#include "source/ir.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace regraph::infer {

// Why a grid that was made up may be wrong: an integer parameter without a value (`has_value`)
// decides, together with the block's number, what threads do, so that its condition may well be
// the guard, and times beside it would be those of threads that do nothing. `kernel` is the
// summary's as it was written. Names the first conditions and their lines; nothing where there are
// none.
[[nodiscard]] std::optional<std::string> hidden_guard(
    const source::Kernel& kernel, const AccessSummary& summary,
    const std::function<bool(const std::string&)>& has_value);

// What the first condition that compares something of the block's number with a size makes of the
// grid, although what it compares cannot be read exactly.
struct LikelyExtent {
  IntegerExpression extent;
  std::string condition;  // as "'a < n' (line 3)"
};

// Along an axis (0: x) with so many threads a block: enough threads for the size, or as many blocks
// where the threads' number is not compared with it. Nothing where there is no such condition.
[[nodiscard]] std::optional<LikelyExtent> likely_extent(const source::Kernel& kernel,
                                                        std::size_t axis, std::uint32_t threads);

}  // namespace regraph::infer
