// How the tensor cores of an H200 add up products of floats, bit for bit (docs/simulator.md has how
// that was found out).
//
//   s = c + a[0] b[0] + ... + a[n - 1] b[n - 1]     all terms at once, n = depth of the instruction
//
//   every product is exact; its exponent is that of a plus that of b, as their formats hold them
//   (numbers below the normal ones, zero among them, have the least exponent of the format)
//   all terms are aligned at the largest exponent and cut off `fraction_bits` behind it
//   their sum is exact, and cut to `kept_bits` for f32 or rounded to nearest even for f16
#pragma once

#include "ptx/decode/matrix_product.h"

#include <cstdint>

namespace regraph::ptx {

struct FloatProducts {
  MatrixInput a_input = MatrixInput::f16;
  MatrixInput b_input = MatrixInput::f16;
  MatrixSum sum = MatrixSum::f32;  // or f16
  bool of_warpgroup = false;       // wgmma, which multiplies factors of eight bits as they are
  int rows = 8;                    // multiples of 8
  int columns = 8;
  int depth = 16;    // at most kMostMatrixDepth
  int together = 0;  // so many of them are added at once, the first ones first; 0: all
};

// sums[row][column] += a[row][k] * b[k][column] over all k. The arrays are dense. `sums` hold
// values of the type `sum`, before and after. Infinities and NaNs follow IEEE; NaNs are canonical.
void add_float_products(const FloatProducts& products, const float* a, const float* b, float* sums);

}  // namespace regraph::ptx
