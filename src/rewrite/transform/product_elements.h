// What a kernel does with the elements of a matrix product once their sums are there. Used by the
// codes for tensor cores.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <array>
#include <cstddef>
#include <string>

namespace regraph::rewrite {

// Lines of a factor that a tile has: of rows that lie one behind the other, `pitch` lines each, a
// box of `across` neighbours of each row from its line `column` on, and from row `row` on. Line p
// of the tile is the one at p / across * pitch + p % across behind the first.
struct BoxOfLines {
  std::size_t factor = 0;
  int across = 0;
  std::string pitch;
  std::string column;
  std::string row;
  // What the kernel calls a line's column and row, which it computes of the line.
  std::array<std::string, 2> places;
};

// The kernel's body for the element at the coordinates of the product's axes: what the original
// does, with the loop's part of the sum, `part`, at hand.
[[nodiscard]] Block element_body(const KernelForm& form, const Launch& launch,
                                 const MatrixProduct& product, const ExprPtr& part);

// Writes what becomes of a tile whose sums lie in shared memory, `sums[row * pitch + column]`,
// where rows are of the factor `rows`: all threads of the block take elements that are neighbours
// along columns. Where the kernel stores an element once, and these are neighbours in memory, they
// are stored by vectors of 16 bytes, or by neighbouring lanes where they are not aligned. `box`:
// which lines the tile has, null where all follow each other. Sums of slices (TensorTile::slices)
// lie one behind the other and are added up on the way.
void write_staged_elements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                           const MatrixProduct& product, const TensorTile& tile,
                           const TensorNames& names, std::size_t rows, int pitch, int threads,
                           const BoxOfLines* box = nullptr);

// Writes the tile as the kernel computes it: its threads take elements in turn, and do for each
// what a thread of the kernel does.
void write_original_elements(CodeLines& lines, const KernelForm& form, const Launch& launch,
                             const MatrixProduct& product, const TensorTile& tile,
                             const TensorNames& names, std::size_t rows, int threads,
                             const BoxOfLines* box = nullptr);

}  // namespace regraph::rewrite
