// A strip loop with its tiles kept twice. Used by double_buffer.
#pragma once

#include "rewrite/analysis/strip_copies.h"
#include "rewrite/analysis/strip_loop.h"
#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// Elements that a thread holds in registers on their way to a tile, at most: a quarter of what it
// has for a block of 256 threads on a full multiprocessor.
inline constexpr std::int64_t kMostHeldElements = 64;

// Elements that a thread would hold.
[[nodiscard]] std::int64_t held_elements(const StripCopies& copies);

// The kernel's body with the next strip loaded while the current one is used.
[[nodiscard]] Block alternate_tiles(const Kernel& kernel, const StripLoop& strips,
                                    const StripCopies& copies);

}  // namespace regraph::rewrite
