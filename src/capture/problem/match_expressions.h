// Numbers of several launches in terms of others: a length that is always n * m is that.
#pragma once

#include "kernel/expression.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace regraph::capture {

// Finds the simplest expression of the symbols that has `values[i]` in the launch with
// `launches[i]`: a symbol, one more or less, a multiple, a product of two or three, a line through
// two launches. Nothing where there is none. A single launch proves little: there only products and
// small multiples count; of several, products of four, too.
[[nodiscard]] std::optional<IntegerExpression> match_length(std::span<const Symbols> launches,
                                                            std::span<const std::int64_t> values);

// The same for a grid's extent: also the quotient by the block's extent on that axis ("bx"), or by
// a constant, rounded up.
[[nodiscard]] std::optional<IntegerExpression> match_grid(std::span<const Symbols> launches,
                                                          std::span<const std::int64_t> values,
                                                          const std::string& block_symbol,
                                                          std::int64_t block_extent);

}  // namespace regraph::capture
