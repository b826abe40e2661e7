// The copies of a tensor product's factors to shared memory. Used by tensor_code.
//
// Strips that lie inside of the whole are copied by vectors, asynchronously and without a
// question; at the borders each vector asks, and goes element by element where it is not whole or
// its rows are not aligned. What is outside becomes zero.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// Writes what the copies know before any strip: whether rows are aligned, and whether the block's
// lines are inside. The names of the thread, of the tile's first lines and of the limit exist.
void declare_tensor_copies(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names);

// Writes the lambda `fill(stage, first k)`, which begins to copy a strip of both factors; and,
// where it can be told whether a strip is inside, `fill_inside(stage, part, wanted)` for one of
// tile.parts() parts of such a strip: nothing is copied where `wanted` is 0. It copies the strip
// after those that are copied before the loop, until advance_tensor_copies(). Returns the condition
// for the strip that begins at `strip` to be inside; nothing where there is no `fill_inside`.
[[nodiscard]] std::optional<std::string> define_tensor_fill(CodeLines& lines,
                                                            const MatrixProduct& product,
                                                            const TensorTile& tile,
                                                            const TensorNames& names,
                                                            const std::string& strip);

// What `fill_inside` copies is the strip after it from here on.
void advance_tensor_copies(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names);

}  // namespace regraph::rewrite
