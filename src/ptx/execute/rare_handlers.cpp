// Functions that no handler set vectorises, and carry chains: lane by lane, the same for all sets.
#include "ptx/decode/execution.h"
#include "ptx/decode/rare_function.h"

#include <algorithm>
#include <limits>

namespace regraph::ptx {
namespace {

#include "ptx/execute/handlers/lane_types.h"

using Word = std::uint32_t;

Word clamp_to_s32(std::int64_t value) {
  return static_cast<Word>(std::clamp<std::int64_t>(value, std::numeric_limits<std::int32_t>::min(),
                                                    std::numeric_limits<std::int32_t>::max()));
}

std::int64_t sign_extended(Word value, int bits) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) << (64 - bits)) >> (64 - bits);
}

std::uint64_t product_24(Word a, Word b, bool is_signed) {
  constexpr Word kMask = 0xffffffU;
  if (!is_signed) return static_cast<std::uint64_t>(a & kMask) * (b & kMask);
  return static_cast<std::uint64_t>(sign_extended(a & kMask, 24) * sign_extended(b & kMask, 24));
}

// Bit i of the table is the result for the bits i / 4, i / 2 % 2 and i % 2 of a, b and c.
Word logic3(Word a, Word b, Word c, Word table) {
  Word result = 0;
  for (Word i = 0; i < 8; ++i) {
    if (((table >> i) & 1U) == 0) continue;
    result |= ((i & 4U) != 0 ? a : ~a) & ((i & 2U) != 0 ? b : ~b) & ((i & 1U) != 0 ? c : ~c);
  }
  return result;
}

// PTX ISA, prmt: which of the eight bytes of {b, a} each result byte is, by mode and selector.
Word permute_mode(Word a, Word b, Word c, PermuteMode mode) {
  const std::uint64_t bytes = (static_cast<std::uint64_t>(b) << 32) | a;
  const Word s = c & 3U;
  Word result = 0;
  for (Word i = 0; i < 4; ++i) {
    Word from = 0;
    switch (mode) {
      case PermuteMode::f4e:
        from = s + i;
        break;
      case PermuteMode::b4e:
        from = (s + 8 - i) & 7U;
        break;
      case PermuteMode::rc8:
        from = s;
        break;
      case PermuteMode::ecl:
        from = std::max(s, i);
        break;
      case PermuteMode::ecr:
        from = std::min(s, i);
        break;
      case PermuteMode::rc16:
        from = (s & 1U) * 2 + (i & 1U);
        break;
    }
    result |= (static_cast<Word>(bytes >> (8 * from)) & 0xffU) << (8 * i);
  }
  return result;
}

// fns: the position of the n-th set bit counting from `base` upwards (n > 0) or downwards (n < 0);
// n = 0 asks for bit `base` itself.
Word find_nth_set(Word mask, Word base, Word offset) {
  const auto n = static_cast<std::int32_t>(offset);
  constexpr Word kNone = 0xffffffffU;
  if (base > 31) return kNone;
  if (n == 0) return ((mask >> base) & 1U) != 0 ? base : kNone;
  const int step = n > 0 ? 1 : -1;
  std::int64_t left = n > 0 ? n : -static_cast<std::int64_t>(n);
  for (int at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
    if (((mask >> at) & 1U) != 0 && --left == 0) return static_cast<Word>(at);
  }
  return kNone;
}

Word dot_product_2(Word a, Word b, Word c, std::int64_t k) {
  for (int i = 0; i < 2; ++i) {
    const Word x = (a >> (16 * i)) & 0xffffU;
    const Word y = (b >> (8 * i + ((k & 4) != 0 ? 16 : 0))) & 0xffU;
    const std::int64_t left = (k & 1) != 0 ? sign_extended(x, 16) : x;
    const std::int64_t right = (k & 2) != 0 ? sign_extended(y, 8) : y;
    c += static_cast<Word>(left * right);
  }
  return c;
}

template <typename Combine>
Word halves(Word a, Word b, Combine combine) {
  return (combine(a & 0xffffU, b & 0xffffU) & 0xffffU) | (combine(a >> 16, b >> 16) << 16);
}
template <typename Combine>
Word signed_halves(Word a, Word b, Combine combine) {
  return halves(a, b, [&](Word x, Word y) {
    return static_cast<Word>(combine(sign_extended(x, 16), sign_extended(y, 16)));
  });
}

Word absolute_difference(Word a, Word b, Word c, std::int64_t k) {
  const int fields = static_cast<int>(k & 7);
  const int bits = 32 / fields;
  const Word mask = (1U << bits) - 1U;
  Word result = 0;
  Word sum = c;
  for (int i = 0; i < fields; ++i) {
    const Word x = (a >> (bits * i)) & mask;
    const Word y = (b >> (bits * i)) & mask;
    const bool is_signed = (k & kFieldsSigned) != 0;
    const std::int64_t difference =
        is_signed ? sign_extended(x, bits) - sign_extended(y, bits)
                  : static_cast<std::int64_t>(x) - static_cast<std::int64_t>(y);
    const auto distance = static_cast<Word>(difference < 0 ? -difference : difference);
    result |= (distance & mask) << (bits * i);
    sum += distance;
  }
  return (k & kFieldsSum) != 0 ? sum : result;
}

// tf32 keeps 10 of f32's 23 mantissa bits.
Word to_tf32(Word bits, std::int64_t mode) {
  if ((bits & 0x7fffffffU) > 0x7f800000U) return 0x7fffffffU;
  if ((bits & 0x7f800000U) == 0x7f800000U) return bits;
  if (mode == kTiesAway) return (bits + 0x1000U) & ~0x1fffU;
  if (mode == static_cast<std::int64_t>(RoundingMode::zero)) return bits & ~0x1fffU;
  return (bits + 0xfffU + ((bits >> 13) & 1U)) & ~0x1fffU;
}

// The eight-bit floats: sign, exponent, mantissa. e4m3 has no infinities, NaN is all ones.
struct SmallFloat {
  int mantissa_bits;
  int bias;
  double largest;
};
constexpr SmallFloat kE4m3 = {3, 7, 448.0};
constexpr SmallFloat kE5m2 = {2, 15, 57344.0};

// Rounds to nearest even; beyond the largest value it stays there (.satfinite).
Word to_small_float(float value, const SmallFloat& format) {
  const Word sign = (bits_of(value) >> 24) & 0x80U;
  if (value != value) return 0x7fU;
  const double magnitude = __builtin_fabs(static_cast<double>(value));
  if (magnitude >= format.largest) {
    return sign | (format.mantissa_bits == 3 ? 0x7eU : 0x7bU);
  }
  int exponent = magnitude > 0 ? __builtin_ilogb(magnitude) : 1 - format.bias;
  exponent = std::max(exponent, 1 - format.bias);
  // A mantissa that rounds up to the next power of two carries into the exponent by itself.
  const double steps = __builtin_ldexp(magnitude, format.mantissa_bits - exponent);
  const auto rounded = static_cast<Word>(__builtin_nearbyint(steps));
  const auto base = static_cast<Word>(exponent + format.bias - 1) << format.mantissa_bits;
  return sign | (base + rounded);
}
Word half_of_small_float(Word bits, const SmallFloat& format) {
  const Word magnitude = bits & 0x7fU;
  const Word sign = (bits & 0x80U) << 8;
  if (format.mantissa_bits == 2) return sign | (magnitude << 8);  // f16 cut short
  if (magnitude == 0x7fU) return 0x7fffU;
  const Word exponent = magnitude >> 3;
  const double fraction = (magnitude & 7U) / 8.0;
  const double value = exponent == 0
                           ? __builtin_ldexp(fraction, -6)
                           : __builtin_ldexp(1.0 + fraction, static_cast<int>(exponent) - 7);
  return sign | double_to_half(value);
}

Word compute(RareFunction function, Word a, Word b, Word c, std::int64_t k) {
  const auto s = [](Word value) {
    return static_cast<std::int64_t>(static_cast<std::int32_t>(value));
  };
  switch (function) {
    case RareFunction::add_saturate:
      return clamp_to_s32(s(a) + s(b));
    case RareFunction::subtract_saturate:
      return clamp_to_s32(s(a) - s(b));
    case RareFunction::multiply_add_high_saturate:
      return clamp_to_s32(((s(a) * s(b)) >> 32) + s(c));
    case RareFunction::multiply_24_low_u:
      return static_cast<Word>(product_24(a, b, false));
    case RareFunction::multiply_24_low_s:
      return static_cast<Word>(product_24(a, b, true));
    case RareFunction::multiply_24_high_u:
      return static_cast<Word>(product_24(a, b, false) >> 16);
    case RareFunction::multiply_24_high_s:
      return static_cast<Word>(product_24(a, b, true) >> 16);
    case RareFunction::logic3:
      return logic3(a, b, c, static_cast<Word>(k));
    case RareFunction::permute_mode:
      return permute_mode(a, b, c, static_cast<PermuteMode>(k));
    case RareFunction::find_nth_set:
      return find_nth_set(a, b, c);
    case RareFunction::dot_product_2:
      return dot_product_2(a, b, c, k);
    case RareFunction::add_16x2:
      return halves(a, b, [](Word x, Word y) { return x + y; });
    case RareFunction::min_u16x2:
      return halves(a, b, [](Word x, Word y) { return std::min(x, y); });
    case RareFunction::max_u16x2:
      return halves(a, b, [](Word x, Word y) { return std::max(x, y); });
    case RareFunction::min_s16x2:
      return signed_halves(a, b, [](std::int64_t x, std::int64_t y) { return std::min(x, y); });
    case RareFunction::max_s16x2:
      return signed_halves(a, b, [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    case RareFunction::relu_s16x2:
      return signed_halves(a, 0, [](std::int64_t x, std::int64_t y) { return std::max(x, y); });
    case RareFunction::absolute_difference:
      return absolute_difference(a, b, c, k);
    case RareFunction::to_tf32:
      return to_tf32(a, k);
    case RareFunction::to_e4m3x2:
      return to_small_float(float_of(a), kE4m3) << 8 | to_small_float(float_of(b), kE4m3);
    case RareFunction::to_e5m2x2:
      return to_small_float(float_of(a), kE5m2) << 8 | to_small_float(float_of(b), kE5m2);
    case RareFunction::from_e4m3x2:
      return half_of_small_float(a >> 8, kE4m3) << 16 | half_of_small_float(a & 0xffU, kE4m3);
    case RareFunction::from_e5m2x2:
      return half_of_small_float(a >> 8 & 0xffU, kE5m2) << 16 |
             half_of_small_float(a & 0xffU, kE5m2);
    case RareFunction::copy_xor_sign:
      return (a & 0x7fffffffU) | ((b ^ c) & 0x80000000U);
  }
  return 0;
}

const Record* rare(const Record* r, Warp& w) {
  const auto function = static_cast<RareFunction>(r->e);
  Word* d = lanes<Word>(w, r->d);
  const Word* a = lanes<Word>(w, r->a);
  const Word* b = lanes<Word>(w, r->b);
  const Word* c = lanes<Word>(w, r->c);
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    d[l] = compute(function, a[l], b[l], c[l], r->immediate);
  }
  return r + 1;
}

// d = a + b + carry or a - b - borrow; the flag is a predicate.
template <typename T>
const Record* carry(const Record* r, Warp& w) {
  T* d = lanes<T>(w, r->d);
  const T* a = lanes<T>(w, r->a);
  const T* b = lanes<T>(w, r->b);
  Word& flag = predicate(w, r->c);
  Word out = 0;
  for (Word rest = w.exec; rest != 0; rest &= rest - 1) {
    const int l = __builtin_ctz(rest);
    const T in = (r->flags & kCarryIn) != 0 ? (flag >> l) & 1U : 0U;
    T partial = 0;
    T result = 0;
    bool carries = false;
    if ((r->flags & kBorrow) != 0) {
      carries = __builtin_sub_overflow(a[l], b[l], &partial);
      carries = __builtin_sub_overflow(partial, in, &result) || carries;
    } else {
      carries = __builtin_add_overflow(a[l], b[l], &partial);
      carries = __builtin_add_overflow(partial, in, &result) || carries;
    }
    d[l] = result;
    out |= static_cast<Word>(carries) << l;
  }
  if ((r->flags & kCarryOut) != 0) flag = (flag & ~w.exec) | out;
  return r + 1;
}

}  // namespace

void fill_rare_handlers(Handler* table) {
  table[handler_id(Operation::rare, LaneType::u32)] = &rare;
  table[handler_id(Operation::carry, LaneType::u32)] = &carry<std::uint32_t>;
  table[handler_id(Operation::carry, LaneType::u64)] = &carry<std::uint64_t>;
}

}  // namespace regraph::ptx
