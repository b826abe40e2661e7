// Functions of one lane that are too rare to be worth a loop over lanes in every handler set.
#pragma once

#include <cstdint>

namespace regraph::ptx {

// What Operation::rare computes of the sources a, b and c; `k` is the record's immediate.
enum class RareFunction : std::uint8_t {
  add_saturate,  // s32
  subtract_saturate,
  multiply_add_high_saturate,
  multiply_24_low_u,  // mul24: the low or high half of the 48-bit product of 24-bit factors
  multiply_24_low_s,
  multiply_24_high_u,
  multiply_24_high_s,
  logic3,         // lop3; k: the truth table
  permute_mode,   // prmt.f4e ...; k: a PermuteMode
  find_nth_set,   // fns
  dot_product_2,  // dp2a; k: 1 a is signed, 2 b is signed, 4 the upper bytes of b
  add_16x2,
  min_u16x2,
  max_u16x2,
  min_s16x2,
  max_s16x2,
  relu_s16x2,
  absolute_difference,  // vabsdiff2, vabsdiff4; k: fields | kFieldsSigned | kFieldsSum
  to_tf32,              // k: a RoundingMode, or kTiesAway
  to_e4m3x2,            // of f32 a (upper) and b
  to_e5m2x2,
  from_e4m3x2,  // to f16x2
  from_e5m2x2,
  copy_xor_sign,  // |a| with the sign of b xor c
};

enum class PermuteMode : std::uint8_t { f4e, b4e, rc8, ecl, ecr, rc16 };

inline constexpr std::int64_t kFieldsSigned = 8;
inline constexpr std::int64_t kFieldsSum = 16;
inline constexpr std::int64_t kTiesAway = 8;

}  // namespace regraph::ptx
