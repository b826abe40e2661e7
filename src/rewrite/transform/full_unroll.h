// Full unrolling: loops of constant length as copies of their bodies, one after the other.
#pragma once

#include "rewrite/transform/names.h"
#include "source/ir.h"

namespace regraph::rewrite {

// Returns the block with counted loops of constant length written out, inner ones first, as long as
// none of them makes more than `most_statements`; scopes are dissolved. What copies declare gets
// new names. Loops that ask not to be unrolled, or that hold jumps, stay.
[[nodiscard]] source::Block fully_unrolled(const source::Block& block, Names& names,
                                           int most_statements);

}  // namespace regraph::rewrite
