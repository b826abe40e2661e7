// Strips of a matrix product's factors copied as boxes of tensors. Used by warpgroup_code.
//
// What a box is cut out of is said by a tensor map (PTX ISA, "Tensor-map"). It is made by the block
// itself: in shared memory field by field, then put where the instruction looks for it, in global
// memory, at the place of the block's multiprocessor. So a kernel needs nothing of its host, which
// would encode maps otherwise. Blocks have to be alone on their multiprocessors.
#pragma once

#include "rewrite/forms/ir.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"
#include "rewrite/transform/tensor_tile.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace regraph::rewrite {

// A factor as a tensor of two dimensions, the first one of neighbours in memory.
struct FactorTensor {
  ExprPtr first;                   // its first element
  std::array<ExprPtr, 2> extents;  // in elements
  Polynomial stride;               // elements from a line to the next
};

// Nothing where the factor's conditions are no ends of a tensor's, or its lines never aligned.
[[nodiscard]] std::optional<FactorTensor> tensor_of(const MatrixProduct& product,
                                                    std::size_t factor);

// More shared memory than two blocks on a multiprocessor can have, on any device with such copies.
inline constexpr std::int64_t kLoneBlockBytes = 116 << 10;
// Of multiprocessors that have a place for maps: devices have 160 at most.
inline constexpr int kMapPlaces = 512;

class BoxWriter {
 public:
  BoxWriter(CodeLines& lines, const MatrixProduct& product, const TensorTile& tile,
            const TensorNames& names, Names& fresh);

  // Declares what maps lie in, and the multiprocessor's number; whether strips can be copied so is
  // the value of a new variable, whose name is returned.
  [[nodiscard]] std::string declare();
  // Makes the maps, by a warp: `lane` is a thread's number in it.
  void make_maps(const std::string& lane);
  // Begins the copies of the strip at `strip` to stage `stage`, by one thread; they complete bytes
  // of the mbarrier at the address `barrier`.
  void copy(const std::string& strip, const std::string& stage, const std::string& barrier);
  // Bytes of a strip of both factors.
  [[nodiscard]] int strip_bytes() const;

 private:
  void make_map(std::size_t factor);
  void replace(const std::string& field, const std::string& value, bool is_wide,
               const std::string& number = {});

  CodeLines& lines_;
  const MatrixProduct& product_;
  const TensorTile& tile_;
  const TensorNames& names_;
  std::string maps_;     // in global memory
  std::string made_;     // in shared memory
  std::string place_;    // of the multiprocessor
  std::string address_;  // of a map in shared memory
};

}  // namespace regraph::rewrite
