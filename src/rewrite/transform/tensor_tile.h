// How a matrix product is laid out for tensor cores, and what its code calls things. Used by
// tensor_copies, tensor_code and warpgroup_code.
#pragma once

#include "rewrite/analysis/matrix_product.h"
#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace regraph::rewrite {

// How a strip lies in shared memory.
enum class StripLayout : std::uint8_t {
  // A line after the other, of `depth` places where neighbours in memory differ in k, else of
  // `tile`.
  lines,
  // Panels of 128 bytes across, eight chunks of 16 bytes a line, which are exchanged by exclusive
  // or with the line's number: what wgmma calls its swizzle of 128 bytes, and what ldmatrix reads
  // without bank conflicts. `depth` is a panel. Narrower tiles have panels of their own width,
  // 128 bytes of which are exchanged together (swizzles of 64 and 32 bytes).
  panels,
};

struct TensorTile {
  // Of the tile, of the part of it that a warp (a warpgroup, for wgmma) has, along the axis of each
  // of the product's factors.
  std::array<int, 2> tile = {128, 128};
  std::array<int, 2> warp = {64, 64};
  ScalarType element = ScalarType::f32;
  StripLayout layout = StripLayout::lines;
  int depth = 16;           // of a strip
  int stages = 3;           // strips in shared memory
  bool is_dynamic = false;  // the strips lie in dynamic shared memory
  // Fragments are loaded a step ahead, across strips too, and a strip's copies are begun in parts
  // between the products; `depth` is an even number of steps then.
  bool ahead = false;
  // A factor of single precision is the sum of two tf32 numbers, the second what the first leaves
  // of it, and an element of the product that of three: all but the product of the second ones.
  bool split = false;

  // wgmma: the factor that fills the instruction's 64 rows, and whether its fragments are taken
  // from registers, for which its neighbours in memory need not differ in k.
  std::size_t instruction_rows = 0;
  bool from_registers = false;

  // Threads that do nothing else than copy, behind those that multiply; 0: all copy.
  int copying_threads = 0;
  // Warps that have the whole tile each and share out its strips, in stages of their own
  // (sliced-K); 1: a strip is all warps'.
  int slices = 1;
  // Vectors of lines that are outside are filled with zeros by their copies (cp.async with fewer
  // bytes to read); without it a tile that is not inside as a whole is copied by elements.
  bool fills_zeros = false;
  // Aligned strips are copied as boxes of tensors (cp.async.bulk.tensor), which know where the
  // factors end.
  bool by_boxes = false;

  static constexpr int kPanelBytes = 128;

  // Of one instruction mma.sync: places of 32 bytes.
  [[nodiscard]] int step_depth() const { return 32 / element_bytes(); }
  // Floats from a row of sums in shared memory to the next, so that rows meet different banks.
  [[nodiscard]] int staged_pitch(std::size_t rows) const { return tile[1 - rows] + 4; }
  // Of a tile's sums in shared memory; slices have sums of their own, one behind the other.
  [[nodiscard]] int staged_elements(std::size_t rows) const {
    return tile[rows] * staged_pitch(rows);
  }
  // Bytes for the strips, and for the sums that lie where they did.
  [[nodiscard]] std::int64_t staged_bytes(std::size_t rows) const {
    return std::max(shared_bytes(), std::int64_t{4} * slices * staged_elements(rows));
  }
  [[nodiscard]] int element_bytes() const { return static_cast<int>(size_in_bytes(element)); }
  [[nodiscard]] int vector() const { return 16 / element_bytes(); }  // elements
  [[nodiscard]] int panel() const { return kPanelBytes / element_bytes(); }
  // Elements from a line of a strip to the next; `along_k`: neighbours in memory differ in k. Of
  // panels, what a line has in one of them.
  [[nodiscard]] int pitch(std::size_t factor, bool along_k) const {
    const int line = along_k ? depth : tile[factor];
    return layout == StripLayout::panels ? std::min(panel(), line) : line;
  }
  // In how many parts the copies of a strip are begun.
  [[nodiscard]] int parts() const { return ahead ? depth / step_depth() - 1 : 1; }
  [[nodiscard]] int fragment_sets() const { return ahead ? 2 : 1; }
  // Of numbers whose sum a factor is.
  [[nodiscard]] int terms() const { return split ? 2 : 1; }
  [[nodiscard]] int threads() const {
    return slices * (tile[0] / warp[0]) * (tile[1] / warp[1]) * 32;
  }
  // Places along k from a strip to the next that the same threads multiply.
  [[nodiscard]] int strip_step() const { return slices * depth; }
  [[nodiscard]] int strip_elements(std::size_t factor) const { return tile[factor] * depth; }
  [[nodiscard]] std::int64_t shared_bytes() const {
    return std::int64_t{element_bytes()} * slices * stages * depth * (tile[0] + tile[1]);
  }
};

// New names in a kernel, those of an array per factor.
struct TensorNames {
  TensorNames(Names& names, const MatrixProduct& product);

  std::array<std::string, 2> stages, first, in_warp, whole, inside, held, at, address, ahead,
      first_line;
  std::string tiles, thread, group, place, limit, sums, fill, stage, strip, next, inner, step, line,
      offset, to, e, i, j, h, pair, to_tf32, into, part, split_sums, load, set, fill_inside, wanted,
      pack, kept, slot, its_sums, block, row, rows, in_rows, by, slice, lane, bytes;
  std::string counter;  // of the product's loop
};

// What tensor cores call a type of factors: "f16", "s8", ...; "tf32" for single precision.
[[nodiscard]] std::string tensor_core_type(ScalarType element);

// The factor whose lines are the rows of what is stored: neighbours along the other one's
// coordinate are neighbours in the grid's fastest axis.
[[nodiscard]] std::size_t rows_in_memory(const MatrixProduct& product);

// Where a block's tile lies: writes declarations of the names of the first line of either factor.
// Blocks that follow each other take tiles of a few (`together`) rows before they go on along
// these, so that those that run side by side ask the L2 for the same strips.
void declare_block_place(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
                         const TensorNames& names, int together);

// Writes declarations of where a thread stands in its warp, by the fragments of mma.sync, and of
// where the part of the tile that warp number `warp` has begins.
void declare_warp_place(CodeLines& lines, const TensorTile& tile, const TensorNames& names,
                        const std::string& warp);

// The condition for vectors of so many elements to be aligned: every one of the parameters is a
// multiple of it; "true" for none.
[[nodiscard]] std::string all_divisible(const std::set<std::string>& parameters, int elements);

// Where in the strip of a factor the place `offset` of line `line` lies, in elements. Lines count
// k where neighbours in memory differ in the factor's coordinate, and offsets the coordinate then.
[[nodiscard]] std::string place_in_strip(const TensorTile& tile, std::size_t factor, bool along_k,
                                         const std::string& line, const std::string& offset);

// The same in panels of 128 bytes across, each of `lines` lines, for elements of which `vector`
// make 16 bytes.
[[nodiscard]] std::string place_in_panels(const std::string& line, const std::string& offset,
                                          int lines, int vector);

// How the places of a line `lines` lines further on are exchanged otherwise: what an address in
// bytes is combined with by exclusive or; empty where they are not. `lines` is `step` times
// `apart`, a power of two no smaller than the lines that are counted from.
[[nodiscard]] std::string exchange_of_step(const TensorTile& tile, std::size_t factor, bool along_k,
                                           const std::string& step, int apart);

// Where a place along k of a line lies in the strip of a factor whose neighbours in memory differ
// in k, in layout `lines`: groups of eight places are exchanged so that the lanes of an access meet
// all banks.
[[nodiscard]] std::string exchanged_along_k(const std::string& at, const std::string& line,
                                            int depth);

}  // namespace regraph::rewrite
