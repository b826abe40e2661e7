// How lanes of each type are read and written. Included by every handler set inside its own
// namespace.
//
// NaN results are canonical as on the hardware; it also makes all sets agree bit for bit.

#define REGRAPH_LANES(l) _Pragma("GCC ivdep") for (int l = 0; l < kWarpLanes; ++l)
#define REGRAPH_INLINE __attribute__((always_inline)) inline

using LaneU32 = std::uint32_t;
using LaneS32 = std::int32_t;
using LaneU64 = std::uint64_t;
using LaneS64 = std::int64_t;
using LaneF32 = float;
using LaneF64 = double;

REGRAPH_INLINE std::uint32_t bits_of(float x) {
  return __builtin_bit_cast(std::uint32_t, x);
}
REGRAPH_INLINE std::uint64_t bits_of(double x) {
  return __builtin_bit_cast(std::uint64_t, x);
}
REGRAPH_INLINE float float_of(std::uint32_t x) {
  return __builtin_bit_cast(float, x);
}
REGRAPH_INLINE double double_of(std::uint64_t x) {
  return __builtin_bit_cast(double, x);
}

REGRAPH_INLINE float canonical(float x) {
  return x == x ? x : float_of(0x7fffffffU);
}
REGRAPH_INLINE double canonical(double x) {
  return x == x ? x : double_of(0x7ff8000000000000ULL);
}
REGRAPH_INLINE float flush_denormal(float x) {
  const std::uint32_t bits = bits_of(x);
  return (bits & 0x7f800000U) == 0 ? float_of(bits & 0x80000000U) : x;
}

REGRAPH_INLINE float half_to_float(std::uint32_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t magnitude = half & 0x7fffU;
  // Scaling by 2^112 rebases the exponent and normalises denormals in one exact multiplication.
  const float scaled = float_of(magnitude << 13) * 0x1p112F;
  const std::uint32_t special = 0x7f800000U | (magnitude << 13);
  return float_of(sign | (magnitude >= 0x7c00U ? special : bits_of(scaled)));
}

// Rounds to nearest even. Double keeps every f32 exactly, so one routine serves both widths.
REGRAPH_INLINE std::uint32_t double_to_half(double value) {
  const std::uint64_t bits = bits_of(value);
  const auto sign = static_cast<std::uint32_t>(bits >> 48) & 0x8000U;
  const std::uint64_t magnitude = bits & 0x7fffffffffffffffULL;
  const double absolute = double_of(magnitude);
  // Normal halves: round the 52-bit mantissa to 10 bits in integers.
  const std::uint64_t odd = (magnitude >> 42) & 1;
  const std::uint64_t rounded = magnitude + 0x1ffffffffffULL + odd;
  const auto normal = static_cast<std::uint32_t>((rounded >> 42) - ((1023ULL - 15) << 10));
  // Denormal halves: multiples of 2^-24; adding 2^28 leaves exactly those bits in the mantissa.
  const auto denormal =
      static_cast<std::uint32_t>(bits_of(absolute + 0x1p28) - bits_of(0x1p28)) & 0xffffU;
  std::uint32_t result = absolute < 0x1p-14 ? denormal : normal;
  result = absolute >= 65520.0 ? 0x7c00U : result;
  return absolute == absolute ? (sign | result) : 0x7fffU;
}

REGRAPH_INLINE float bfloat_to_float(std::uint32_t bits) {
  return float_of(bits << 16);
}

// Round to odd keeps what a second rounding needs to know (Boldo and Melquiond, 2008).
REGRAPH_INLINE float double_to_float_odd(double value) {
  const auto nearest = static_cast<float>(value);
  const double back = nearest;
  const std::uint32_t bits = bits_of(nearest);
  const bool inexact = back != value && value == value;
  const bool too_large = __builtin_fabs(back) > __builtin_fabs(value);
  const std::uint32_t truncated = bits - (inexact && too_large ? 1U : 0U);
  return float_of(inexact ? truncated | 1U : truncated);
}
REGRAPH_INLINE std::uint32_t float_to_bfloat(float value) {
  const std::uint32_t bits = bits_of(value);
  const std::uint32_t rounded = (bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16;
  return value == value ? rounded : 0x7fffU;
}

template <typename SlotType, typename ValueType>
struct IntegerLane {
  using Slot = SlotType;
  using Value = ValueType;
  static constexpr bool is_integer = true;
  static REGRAPH_INLINE Value read(Slot slot) { return static_cast<Value>(slot); }
  static REGRAPH_INLINE Slot write(Value value) {
    return static_cast<Slot>(static_cast<std::make_unsigned_t<Value>>(value));
  }
};

template <LaneType>
struct Lane;
template <>
struct Lane<LaneType::u16> : IntegerLane<LaneU32, std::uint16_t> {};
template <>
struct Lane<LaneType::s16> : IntegerLane<LaneU32, std::int16_t> {};
template <>
struct Lane<LaneType::u32> : IntegerLane<LaneU32, std::uint32_t> {};
template <>
struct Lane<LaneType::s32> : IntegerLane<LaneU32, std::int32_t> {};
template <>
struct Lane<LaneType::u64> : IntegerLane<LaneU64, std::uint64_t> {};
template <>
struct Lane<LaneType::s64> : IntegerLane<LaneU64, std::int64_t> {};
template <>
struct Lane<LaneType::f32> {
  using Slot = LaneF32;
  using Value = float;
  static constexpr bool is_integer = false;
  static REGRAPH_INLINE Value read(Slot slot) { return slot; }
  static REGRAPH_INLINE Slot write(Value value) { return canonical(value); }
};
template <>
struct Lane<LaneType::f32_flush> {
  using Slot = LaneF32;
  using Value = float;
  static constexpr bool is_integer = false;
  static REGRAPH_INLINE Value read(Slot slot) { return flush_denormal(slot); }
  static REGRAPH_INLINE Slot write(Value value) { return flush_denormal(canonical(value)); }
};
template <>
struct Lane<LaneType::f64> {
  using Slot = LaneF64;
  using Value = double;
  static constexpr bool is_integer = false;
  static REGRAPH_INLINE Value read(Slot slot) { return slot; }
  static REGRAPH_INLINE Slot write(Value value) { return canonical(value); }
};
// Half types compute in double: exact for one operation, so writing rounds once.
template <>
struct Lane<LaneType::f16> {
  using Slot = LaneU32;
  using Value = double;
  static constexpr bool is_integer = false;
  static REGRAPH_INLINE Value read(Slot slot) { return half_to_float(slot & 0xffffU); }
  static REGRAPH_INLINE Slot write(Value value) { return double_to_half(value); }
};
template <>
struct Lane<LaneType::bf16> {
  using Slot = LaneU32;
  using Value = double;
  static constexpr bool is_integer = false;
  static REGRAPH_INLINE Value read(Slot slot) { return bfloat_to_float(slot & 0xffffU); }
  static REGRAPH_INLINE Slot write(Value value) {
    return float_to_bfloat(double_to_float_odd(value));
  }
};
