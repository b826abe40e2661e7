#include "ptx/execute/tensor_sums.h"

#include "ptx/decode/execution.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

constexpr int kLanes = 8;  // columns at a time
using Floats [[gnu::vector_size(32)]] = float;
using Integers [[gnu::vector_size(32)]] = std::int32_t;
using Words [[gnu::vector_size(32)]] = std::uint32_t;

constexpr int kBias = 127;
constexpr int kLeastExponent = -126;  // of normal floats
constexpr std::uint32_t kExponentMask = 0x7f800000U;
constexpr std::int32_t kNoExponent = -400;  // of zero: below all that count
constexpr std::int32_t kLeastShift = -100;  // nothing is left of what is so far down
constexpr int kMostRows = 32;               // of wmma
constexpr int kMostColumns = 256;

struct Cut {
  int fraction_bits;
  int kept_bits;
};
bool of_bytes(const FloatProducts& products) {
  return products.a_input == MatrixInput::e4m3 || products.a_input == MatrixInput::e5m2;
}
Cut cut_of(const FloatProducts& products) {
  return of_bytes(products) ? Cut{13, 14} : Cut{25, 24};
}

int least_exponent(MatrixInput input) {
  switch (input) {
    case MatrixInput::f16:
    case MatrixInput::e5m2:
      return -14;
    case MatrixInput::e4m3:
      return -6;
    default:
      return kLeastExponent;
  }
}
int least_exponent(MatrixSum sum) {
  return sum == MatrixSum::f16 ? -14 : kLeastExponent;
}

bool is_finite(float value) {
  return (bits_of(value) & kExponentMask) != kExponentMask;
}
REGRAPH_INLINE float float_power_of_two(std::int32_t exponent) {  // -126 to 127
  return float_of(static_cast<std::uint32_t>(kBias + exponent) << 23);
}
REGRAPH_INLINE double power_of_two(std::int32_t exponent) {  // -1022 to 1023
  return double_of(static_cast<std::uint64_t>(static_cast<std::int64_t>(1023 + exponent)) << 52);
}
// By reference: vectors that are returned are passed differently with and without AVX.
REGRAPH_INLINE void raise_to(Integers& values, const Integers& least) {
  values = values > least ? values : least;
}

// Toward zero, to `kept_bits` bits and to what a float holds; what is too large is infinite.
float cut_to_float(double total, int kept_bits) {
  const std::uint64_t dropped = (1ULL << (53 - kept_bits)) - 1;
  const double kept = double_of(bits_of(total) & ~dropped);
  if (std::fabs(kept) >= 0x1p-126) return static_cast<float>(kept);
  return static_cast<float>(std::trunc(kept * 0x1p149) * 0x1p-149);
}
float half_of(double total) {
  return half_to_float(double_to_half(total));
}

// Every finite value is significand * 2^exponent.
struct Tile {
  float a[kMostRows * kMostMatrixDepth];
  std::int32_t a_exponents[kMostRows * kMostMatrixDepth];
  float b[kMostMatrixDepth * kMostColumns];
  std::int32_t b_exponents[kMostMatrixDepth * kMostColumns];
  float c[kMostRows * kMostColumns];
  std::int32_t c_exponents[kMostRows * kMostColumns];
  std::int32_t largest[kMostRows * kMostColumns];  // exponents
  std::int32_t totals[kMostRows * kMostColumns];   // of the products
};

// Whether all are finite.
REGRAPH_INLINE bool take_apart(const float* values, int count, int least, float* significands,
                               std::int32_t* exponents) {
  std::int32_t most = 0;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const auto biased = static_cast<std::int32_t>((bits_of(values[i]) & kExponentMask) >> 23);
    most = biased > most ? biased : most;
    const std::int32_t exponent = biased - kBias < least ? least : biased - kBias;
    // In two steps, as 2^126 has no inverse among normal floats.
    const std::int32_t half = exponent / 2;
    significands[i] = values[i] * float_power_of_two(-half) * float_power_of_two(half - exponent);
    exponents[i] = values[i] == 0.0F ? kNoExponent : exponent;
  }
  return most <= 2 * kBias;
}

// Aligns and adds up the products.
REGRAPH_INLINE void add_terms(const FloatProducts& products, int fraction_bits, Tile& tile) {
  const int columns = products.columns;
  const Integers least_shift = Integers{} + kLeastShift;
  for (int row = 0; row < products.rows; ++row) {
    const float* a = tile.a + row * products.depth;
    const std::int32_t* a_exponents = tile.a_exponents + row * products.depth;
    for (int column = 0; column < columns; column += kLanes) {
      const int at = row * columns + column;
      Integers largest;
      __builtin_memcpy(&largest, tile.c_exponents + at, sizeof(Integers));
      for (int k = 0; k < products.depth; ++k) {
        Integers exponents;
        __builtin_memcpy(&exponents, tile.b_exponents + k * columns + column, sizeof(Integers));
        raise_to(largest, exponents + a_exponents[k]);
      }
      // Terms of less than 2^(fraction_bits + 2): as many as there are fit into 32 bits. Those of
      // infinities do not; their sum is of no use, but must be defined.
      Words total = {};
      const Integers base = fraction_bits - largest;
      for (int k = 0; k < products.depth; ++k) {
        Floats b;
        Integers shift;
        __builtin_memcpy(&b, tile.b + k * columns + column, sizeof(Floats));
        __builtin_memcpy(&shift, tile.b_exponents + k * columns + column, sizeof(Integers));
        shift += base + a_exponents[k];
        raise_to(shift, least_shift);
        const Integers power = (shift + kBias) << 23;
        const Integers term =
            __builtin_convertvector(a[k] * b * reinterpret_cast<const Floats&>(power), Integers);
        total += reinterpret_cast<const Words&>(term);
      }
      __builtin_memcpy(tile.largest + at, &largest, sizeof(Integers));
      __builtin_memcpy(tile.totals + at, &total, sizeof(Words));
    }
  }
}

// In units of 2^(largest - fraction_bits). The element's own term is below 2^(fraction_bits + 1);
// all together need more than 32 bits.
REGRAPH_INLINE double whole_sum(const Tile& tile, int i, int fraction_bits) {
  const std::int32_t wanted = tile.c_exponents[i] - tile.largest[i] + fraction_bits;
  const std::int32_t shift = wanted < kLeastShift ? kLeastShift : wanted;
  const auto own = static_cast<std::int32_t>(tile.c[i] * float_power_of_two(shift));
  return static_cast<double>(tile.totals[i]) + static_cast<double>(own);
}

// As cut_to_float() has it.
REGRAPH_INLINE void cut_all(const Tile& tile, int count, Cut cut, float* sums) {
  const std::uint64_t kept = ~((1ULL << (53 - cut.kept_bits)) - 1);
  int small = 0;
#pragma GCC ivdep
  for (int i = 0; i < count; ++i) {
    const double sum = double_of(bits_of(whole_sum(tile, i, cut.fraction_bits)) & kept);
    const double value = sum * power_of_two(tile.largest[i] - cut.fraction_bits);
    small |= static_cast<int>(__builtin_fabs(value) < 0x1p-126);
    sums[i] = static_cast<float>(value);
  }
  for (int i = 0; small != 0 && i < count; ++i) {
    sums[i] = cut_to_float(
        whole_sum(tile, i, cut.fraction_bits) * power_of_two(tile.largest[i] - cut.fraction_bits),
        cut.kept_bits);
  }
}

// False where something is not finite: sums of such are then of no use.
REGRAPH_INLINE bool add_tile(const FloatProducts& products, Tile& tile, const float* a,
                             const float* b, float* sums) {
  const Cut cut = cut_of(products);
  const int count = products.rows * products.columns;
  const bool a_finite = take_apart(a, products.rows * products.depth,
                                   least_exponent(products.a_input), tile.a, tile.a_exponents);
  const bool b_finite = take_apart(b, products.depth * products.columns,
                                   least_exponent(products.b_input), tile.b, tile.b_exponents);
  const bool c_finite =
      take_apart(sums, count, least_exponent(products.sum), tile.c, tile.c_exponents);
  add_terms(products, cut.fraction_bits, tile);
  if (products.sum == MatrixSum::f16) {
    for (int i = 0; i < count; ++i)
      sums[i] = half_of(whole_sum(tile, i, cut.fraction_bits) *
                        power_of_two(tile.largest[i] - cut.fraction_bits));
  } else {
    cut_all(tile, count, cut, sums);
  }
  return a_finite && b_finite && c_finite;
}

// Of a processor with AVX2; the results are the same.
__attribute__((target("avx2"))) bool add_wide(const FloatProducts& products, Tile& tile,
                                              const float* a, const float* b, float* sums) {
  return add_tile(products, tile, a, b, sums);
}
bool add_narrow(const FloatProducts& products, Tile& tile, const float* a, const float* b,
                float* sums) {
  return add_tile(products, tile, a, b, sums);
}

// Of infinities and NaNs; without any in the way it is not asked.
float ieee_sum(const FloatProducts& products, const float* a, const float* b, int column,
               float sum) {
  double total = sum;
  for (int k = 0; k < products.depth; ++k)
    total += static_cast<double>(a[k]) * static_cast<double>(b[k * products.columns + column]);
  return canonical(products.sum == MatrixSum::f16 ? half_of(total) : cut_to_float(total, 24));
}

void add_at_once(const FloatProducts& products, const float* a, const float* b, float* sums) {
  static const bool kWide = __builtin_cpu_supports("avx2") != 0;
  Tile tile;
  float before[kMostRows * kMostColumns];
  std::copy_n(sums, products.rows * products.columns, before);
  if ((kWide ? &add_wide : &add_narrow)(products, tile, a, b, sums)) return;
  for (int row = 0; row < products.rows; ++row) {
    const float* const factors = a + row * products.depth;
    for (int column = 0; column < products.columns; ++column) {
      const int at = row * products.columns + column;
      bool plain = is_finite(before[at]);
      for (int k = 0; k < products.depth; ++k)
        plain = plain && is_finite(factors[k]) && is_finite(b[k * products.columns + column]);
      if (!plain) sums[at] = ieee_sum(products, factors, b, column, before[at]);
    }
  }
}

// Some at a time along k.
void add_in_turns(const FloatProducts& products, const float* a, const float* b, float* sums) {
  FloatProducts turn = products;
  turn.depth = products.together;
  float turn_a[kMostRows * kMostMatrixDepth];
  for (int first = 0; first < products.depth; first += turn.depth) {
    for (int row = 0; row < products.rows; ++row)
      std::copy_n(a + row * products.depth + first, turn.depth, turn_a + row * turn.depth);
    add_at_once(turn, turn_a, b + first * products.columns, sums);
  }
}

// mma.sync of eight bits: factors become f16, the even pairs of each four along k are multiplied,
// then the odd ones on top of that; C is added by itself.
void add_in_pairs(const FloatProducts& products, const float* a, const float* b, float* sums) {
  FloatProducts half = products;
  half.a_input = half.b_input = MatrixInput::f16;
  half.depth = products.depth / 2;
  float half_a[kMostRows * kMostMatrixDepth];
  float half_b[kMostMatrixDepth * kMostColumns];
  float partial[kMostRows * kMostColumns] = {};
  for (int pair = 0; pair < 2; ++pair) {
    for (int k = 0; k < half.depth; ++k) {
      const int from = k / 2 * 4 + 2 * pair + k % 2;
      for (int row = 0; row < products.rows; ++row)
        half_a[row * half.depth + k] = a[row * products.depth + from];
      std::copy_n(b + from * products.columns, products.columns, half_b + k * products.columns);
    }
    add_at_once(half, half_a, half_b, partial);
  }
  for (int i = 0; i < products.rows * products.columns; ++i) {
    const float sum = partial[i] + sums[i];
    sums[i] = canonical(products.sum == MatrixSum::f16 ? half_of(sum) : sum);
  }
}

}  // namespace

void add_float_products(const FloatProducts& products, const float* a, const float* b,
                        float* sums) {
  if (of_bytes(products) && !products.of_warpgroup) {
    add_in_pairs(products, a, b, sums);
  } else if (products.together != 0) {
    add_in_turns(products, a, b, sums);
  } else {
    add_at_once(products, a, b, sums);
  }
}

}  // namespace regraph::ptx
