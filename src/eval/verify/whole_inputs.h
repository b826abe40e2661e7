// Contents whose elements go together: permutations, and the integers of sparse matrices.
#pragma once

#include "kernel/problem.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace regraph::verify {

// Fills `buffer` as the `init` of the problem's argument `stream` says, which must be a
// permutation, csr_offsets or csr_columns: as many elements as it has at these sizes, from the
// first byte on; what is left is 0. Depends on seed and stream alone.
//
// csr_offsets: a quarter of the rows is empty, one in 16 is several times as long as the others,
// and the last offset is the expression's value. csr_columns: the rows are those of the offsets
// that their expression tells (the buffer's length), as the same seed gives them; within a row
// columns ascend, and none comes twice where there are enough.
void fill_whole(const Problem& problem, const Symbols& symbols, std::uint64_t seed,
                std::size_t stream, std::span<std::byte> buffer);

}  // namespace regraph::verify
