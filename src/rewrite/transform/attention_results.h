// What a kernel does with the sums of a row of attention. Used by attention_code.
#pragma once

#include "rewrite/transform/attention_tile.h"
#include "rewrite/transform/code_lines.h"

namespace regraph::rewrite {

// Writes what the original does with a row's sums, for the elements that a thread has, once all
// threads are done with the tiles. A row of 16-bit elements that is stored by a loop of its own
// goes by way of shared memory, where the warp's queries were, to be stored by 16 bytes.
void write_attention_results(CodeLines& lines, const AttentionPattern& pattern,
                             const AttentionTile& tile, const AttentionNames& names);

}  // namespace regraph::rewrite
