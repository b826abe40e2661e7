// Full unrolling: loops of constant length as copies of their bodies, one after the other. Used by
// vectorize_window and slp_vectorize, which look for neighbours among the copies.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"

namespace regraph::rewrite {

// Returns the block with counted loops of constant length written out, inner ones first, as long as
// the instructions of none of them would be too many for the cache near the multiprocessor; scopes
// are dissolved. What copies declare gets new names. Loops that ask not to be unrolled, or that
// hold jumps, stay.
[[nodiscard]] Block with_loops_written_out(const Block& block, Names& names);

}  // namespace regraph::rewrite
