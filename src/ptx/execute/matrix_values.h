// The values in the registers and in the memory that matrix products read, and the sums of their
// products.
#pragma once

#include "ptx/decode/matrix_product.h"

#include <cstdint>

namespace regraph::ptx {

// Takes `count` words apart: value i of word w goes to values[i * count + w].
void unpack_words(MatrixInput input, const std::uint32_t* words, int count, float* values);
void unpack_words(MatrixInput input, const std::uint32_t* words, int count, std::int32_t* values);

// sums[row][column] += a[row][k] * b[k][column], one product after another, k ascending. The arrays
// are dense; `rows` and `columns` are multiples of 8. Products of floats of at most 11
// significant bits are exact; those of doubles are fused with their additions, those of integers
// cannot overflow their sums. PTX leaves the order and the rounding inside one instruction open.
void add_products(int rows, int columns, int depth, const float* a, const float* b, float* sums);
void add_products(int rows, int columns, int depth, const double* a, const double* b, double* sums);
void add_products(int rows, int columns, int depth, const std::int32_t* a, const std::int32_t* b,
                  std::int64_t* sums);

// Half precision as bits, in single precision and back, rounded to nearest even once.
[[nodiscard]] float half_value(std::uint32_t bits);
[[nodiscard]] std::uint32_t half_bits(float value);

}  // namespace regraph::ptx
