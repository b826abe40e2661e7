// How the factor that is no input, the filters, comes to shared memory, where a tap's elements lie
// together: [tap][line][chunk], a line's two chunks exchanged for every other four lines, so that
// ldmatrix meets all banks (HaloTile::Others). Used by halo_gemm_code.
#pragma once

#include "rewrite/transform/halo_code.h"

#include <string>

namespace regraph::rewrite {

class HaloFilterCode : protected HaloCode {
 protected:
  using HaloCode::HaloCode;

  bool is_by_lines() const { return halo.others == HaloTile::Others::by_lines; }

  // The other factor's elements are copied as they lie, and sorted.
  bool is_dense() const { return halo.others == HaloTile::Others::in_order || is_by_lines(); }

  // The other factor's chunks are vectors in memory, which are copied to where they belong.
  bool are_others_copied() const { return halo.others == HaloTile::Others::by_chunks; }

  // The other factor's elements of a line and a chunk.
  // Neighbours among the threads have a line's chunks, or lines, as these lie in memory.
  void declare_other_line();

  std::string whole_chunk() const;

  ExprPtr element_of_first_tap() const;

  // Eight iterations of the chunked loop and all taps lie without gaps: the lanes of a warp copy
  // what they will take to the taps' places, vectors that follow each other together.
  void define_copy_others();

  // All lines of the tile and taps lie without gaps, for an iteration of the chunked loop: the
  // threads copy them.
  void define_copy_lines();

  std::string whole_lines() const;

  void define_copy_chunks();

  // Where the chunk of a line and tap lies, in chunks.
  std::string other_place(const std::string& tap, const std::string& line,
                          const std::string& chunk) const;

  void define_store_others();

  template <typename Element>
  void write_other(const std::string& tap, const Element& element) {
    text.line("*(uint4*)&{}[{} * {}] = {};", names.stages[other],
              other_place(tap, names.line, chunk), kChunk, packed(element));
  }

  // Where a tap's element lies among those of all taps.
  int place_of_tap(int tap) const;

  // A chunk's elements of a tap lie as far from each other as all lines' taps take.
  void store_lines();

  // Of a chunk whose first element is at `first`, element by element: those of a tap are `apart`.
  void store_halves(const std::string& first, int apart);

  // A chunk's elements of a tap lie as far from each other as there are taps.
  void store_vectors();

  const std::string raw = fresh.fresh("in_order");
  const std::string pair = fresh.fresh("parts");
};

}  // namespace regraph::rewrite
