#include "ptx/execute/matrix_values.h"

#include "ptx/decode/execution.h"

#include <array>
#include <type_traits>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

// e4m3 has neither infinities nor more NaNs than two, whose other bits are all ones.
float e4m3_value(Word bits) {
  const Word magnitude = bits & 0x7fU;
  const Word exponent = magnitude >> 3;
  const auto fraction = static_cast<float>(magnitude & 7U) / 8.0F;
  if (magnitude == 0x7fU) return float_of(0x7fffffffU);
  const float value = exponent == 0
                          ? __builtin_ldexpf(fraction, -6)
                          : __builtin_ldexpf(1.0F + fraction, static_cast<int>(exponent) - 7);
  return (bits & 0x80U) != 0 ? -value : value;
}

template <typename Value>
std::array<float, 256> table_of(Value value) {
  std::array<float, 256> table = {};
  for (Word bits = 0; bits < table.size(); ++bits)
    table[bits] = value(bits);
  return table;
}

const std::array<float, 256>& small_floats(MatrixInput input) {
  static const auto kE4m3 = table_of(&e4m3_value);
  static const auto kE5m2 = table_of([](Word bits) { return half_to_float(bits << 8); });
  return input == MatrixInput::e4m3 ? kE4m3 : kE5m2;
}

// Four rows of eight columns at a time stay in registers.
template <typename Value, typename Sum>
REGRAPH_INLINE void add_blocks(int rows, int columns, int depth, const Value* a, const Value* b,
                               Sum* sums) {
  constexpr int kRows = 4;
  constexpr int kColumns = 8;
  for (int row = 0; row < rows; row += kRows) {
    for (int column = 0; column < columns; column += kColumns) {
      Sum block[kRows][kColumns];
      for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kColumns; ++j)
          block[i][j] = sums[(row + i) * columns + column + j];
      }
      for (int k = 0; k < depth; ++k) {
        const Value* from = b + k * columns + column;
        for (int i = 0; i < kRows; ++i) {
          const Value factor = a[(row + i) * depth + k];
          for (int j = 0; j < kColumns; ++j) {
            if constexpr (std::is_same_v<Value, double>) {
              block[i][j] = __builtin_fma(factor, from[j], block[i][j]);
            } else {
              block[i][j] += static_cast<Sum>(factor) * static_cast<Sum>(from[j]);
            }
          }
        }
      }
      for (int i = 0; i < kRows; ++i) {
        for (int j = 0; j < kColumns; ++j)
          sums[(row + i) * columns + column + j] = block[i][j];
      }
    }
  }
}

using Eight [[gnu::vector_size(32)]] = float;

// The same with eight rows, of floats.
REGRAPH_INLINE void add_float_blocks(int rows, int columns, int depth, const float* a,
                                     const float* b, float* sums) {
  constexpr int kRows = 8;
  constexpr int kColumns = 8;
  for (int row = 0; row < rows; row += kRows) {
    for (int column = 0; column < columns; column += kColumns) {
      Eight block[kRows];
      for (int i = 0; i < kRows; ++i)
        __builtin_memcpy(&block[i], sums + (row + i) * columns + column, sizeof(Eight));
      for (int k = 0; k < depth; ++k) {
        Eight factors;
        __builtin_memcpy(&factors, b + k * columns + column, sizeof(Eight));
        for (int i = 0; i < kRows; ++i)
          block[i] += a[(row + i) * depth + k] * factors;
      }
      for (int i = 0; i < kRows; ++i)
        __builtin_memcpy(sums + (row + i) * columns + column, &block[i], sizeof(Eight));
    }
  }
}

// Of a processor with AVX2; the results are the same.
__attribute__((target("avx2"))) void add_wide(int rows, int columns, int depth, const float* a,
                                              const float* b, float* sums) {
  add_float_blocks(rows, columns, depth, a, b, sums);
}
void add_narrow(int rows, int columns, int depth, const float* a, const float* b, float* sums) {
  add_float_blocks(rows, columns, depth, a, b, sums);
}

}  // namespace

void unpack_words(MatrixInput input, const Word* words, int count, float* values) {
  switch (input) {
    case MatrixInput::tf32:  // of which the hardware reads the upper 19 bits
      for (int w = 0; w < count; ++w)
        values[w] = float_of(words[w] & 0xffffe000U);
      break;
    case MatrixInput::f16:
      for (int w = 0; w < count; ++w)
        values[w] = half_to_float(words[w] & 0xffffU);
      for (int w = 0; w < count; ++w)
        values[count + w] = half_to_float(words[w] >> 16);
      break;
    case MatrixInput::bf16:
      for (int w = 0; w < count; ++w)
        values[w] = float_of(words[w] << 16);
      for (int w = 0; w < count; ++w)
        values[count + w] = float_of(words[w] & 0xffff0000U);
      break;
    default: {
      const std::array<float, 256>& table = small_floats(input);
      for (int i = 0; i < 4; ++i) {
        for (int w = 0; w < count; ++w)
          values[i * count + w] = table[(words[w] >> (8 * i)) & 0xffU];
      }
    }
  }
}

void unpack_words(MatrixInput input, const Word* words, int count, std::int32_t* values) {
  for (int i = 0; i < 4; ++i) {
    for (int w = 0; w < count; ++w) {
      const Word bits = (words[w] >> (8 * i)) & 0xffU;
      values[i * count + w] = input == MatrixInput::s8 ? static_cast<std::int8_t>(bits)
                                                       : static_cast<std::int32_t>(bits);
    }
  }
}

void add_products(int rows, int columns, int depth, const float* a, const float* b, float* sums) {
  static const bool kWide = __builtin_cpu_supports("avx2") != 0;
  (kWide ? &add_wide : &add_narrow)(rows, columns, depth, a, b, sums);
}

void add_products(int rows, int columns, int depth, const double* a, const double* b,
                  double* sums) {
  add_blocks(rows, columns, depth, a, b, sums);
}

void add_products(int rows, int columns, int depth, const std::int32_t* a, const std::int32_t* b,
                  std::int64_t* sums) {
  add_blocks(rows, columns, depth, a, b, sums);
}

float half_value(Word bits) {
  return half_to_float(bits & 0xffffU);
}

Word half_bits(float value) {
  return double_to_half(value);
}

}  // namespace regraph::ptx
