// Kernels that compute an element of a product of a matrix of 4-bit weights and a vector a thread,
// where words hold eight weights, the lowest bits first:
//
//   for (c) {                                                   // words of a row, or groups of them
//     scale = scales[row][c];
//     for (o < 16) for (j < 8)
//       sum += scale * (float)((int)(words[row][16 * c + o] >> 4 * j & 15) - zero)
//              * x[8 * (16 * c + o) + j];
//   }
//
// Used by quantized_gemv.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/ir.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>

namespace regraph::rewrite {

// Elements of an array that are neighbours in memory.
struct QuantizedOperand {
  std::string array;
  Polynomial index;      // of the first
  bool is_wide = false;  // the index has 64 bits
};

struct QuantizedProduct : RowPlaces {
  static constexpr int kWeights = 8;  // of a word

  const Stmt* loop = nullptr;
  ExprPtr iterations;
  int words = 1;  // of an iteration

  QuantizedOperand weights;   // words, over the coordinate
  QuantizedOperand elements;  // of the vector
  ScalarType element = ScalarType::f16;
  std::int64_t zero = 0;  // is taken from every weight

  // What products are multiplied by; null: nothing. float, over the coordinate and the group.
  ExprPtr scale;
  int group = 0;  // words with the same scale; 0: all of a row
  std::string group_number;

  std::string sum;
  ExprPtr start;  // of the sum
  Block behind;   // what is done with it

  // Parameters and values of the block that have to be divisible by `width` for as many words (for
  // eight elements) to be aligned as a vector; nothing where they never are.
  [[nodiscard]] std::optional<std::set<std::string>> divisible(const QuantizedOperand& operand,
                                                               int width) const;
};

// The product that the kernel computes, if that is all that its threads do. Error: refused, with
// what is in the way.
[[nodiscard]] Result<QuantizedProduct> find_quantized_product(const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
