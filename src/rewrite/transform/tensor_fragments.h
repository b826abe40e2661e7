// The fragments that a warp multiplies on tensor cores: where they lie in the strips in shared
// memory, and loads of them into registers. Those of single precision are rounded to tf32 on the
// way.
#pragma once

#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <array>
#include <cstddef>
#include <string>

namespace regraph::rewrite {

// Writes the load of four parts of 8 by 8 elements of 16 bits from shared memory (PTX ISA,
// ldmatrix): a lane gives the address of a line. `turned`: lines become columns.
void write_matrix_load(CodeLines& lines, const std::array<std::string, 4>& to,
                       const std::string& address, bool turned);

// Writes the product of two fragments, which is added to the four elements of `sum` (PTX ISA,
// mma.m16n8k8 for tf32, k16 for 16 bits, k32 for bytes, whose sums are int).
void write_fragment_product(CodeLines& lines, ScalarType element, const std::string& sum,
                            const std::array<std::string, 4>& rows,
                            const std::array<std::string, 2>& columns);

// Writes the arrays of fragments, a thread's places in the strip of stage 0, and the lambda
// `load(set, inner)`, which loads the fragments of the steps along k that begin at `inner` of the
// strip at those places. `rows`: the factor, 0 or 1, that fills the instruction's rows.
void define_tensor_load(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                        const TensorNames& names, std::size_t rows);

// Opens the loops, over `i` and `j`, over the products of a warp's fragments.
void open_fragment_loops(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                         std::size_t rows);

// Writes the products of all fragments of set 0, which are added to `sums[i][j]`.
void write_fragment_products(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                             std::size_t rows);

// Writes the tile's sums, `sums[i][j]`, to shared memory once all copies to it have arrived:
// `staged[row * pitch + column]`, rows of the factor `rows` (TensorTile::staged_pitch), which all
// threads may read afterwards. `staged` is declared, where the strips were.
void write_sums_to_shared(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                          const TensorNames& names, std::size_t rows, const std::string& staged);

// `stage`, and what `load` loads, are the strip after it from here on.
void advance_tensor_load(CodeLines& lines, const TensorTile& tile, const TensorNames& names);

}  // namespace regraph::rewrite
