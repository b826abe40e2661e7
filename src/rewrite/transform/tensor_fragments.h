// The fragments that a warp multiplies on tensor cores: where they lie in the strips in shared
// memory, and loads of them into registers. Those of single precision are rounded to tf32 on the
// way.
#pragma once

#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <cstddef>

namespace regraph::rewrite {

// Writes the arrays of fragments, a thread's places in the strip of stage 0, and the lambda
// `load(set, inner)`, which loads the fragments of the steps along k that begin at `inner` of the
// strip at those places. `rows`: the factor, 0 or 1, that fills the instruction's rows.
void define_tensor_load(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                        const TensorNames& names, std::size_t rows);

// `stage`, and what `load` loads, are the strip after it from here on.
void advance_tensor_load(CodeLines& lines, const TensorTile& tile, const TensorNames& names);

}  // namespace regraph::rewrite
