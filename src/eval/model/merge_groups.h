// Which shared-memory accesses ptxas joins into wider ones.
//
// PTX holds one 4-byte access an element; where a register tile reads neighbouring elements, ptxas
// emits one 8- or 16-byte access instead, which takes one issue slot and the bank passes of one.
#pragma once

#include "ptx/interpreter.h"

#include <vector>

namespace regraph {

// For every instruction the share of its cost that remains: 1 for most, 1/n for each of n accesses
// that become one. Accesses join when they stand in one basic block without a barrier between them,
// use the same base register with adjoining offsets, and the first is aligned to the joint width in
// every execution that was seen. `profile` must be of `program`.
[[nodiscard]] std::vector<double> merged_shares(const ptx::Program& program,
                                                const ptx::Profile& profile);

}  // namespace regraph
