// One function object per operation. A lane type for which apply() is not well-formed has no
// handler. Included inside a handler set's namespace.

template <typename L>
concept Integer = L::is_integer;
template <typename L>
concept Real = !L::is_integer;
template <typename L>
concept Word = L::is_integer && sizeof(typename L::Value) >= 4;
template <typename L>
concept Single = std::is_same_v<typename L::Value, float>;
template <typename L>
concept Double = std::is_same_v<L, Lane<LaneType::f64>>;
template <typename L>
concept Full = Single<L> || Double<L>;

template <typename T>
using Unsigned = std::make_unsigned_t<T>;
// 16-bit integers promote to int, whose products may overflow: compute in 32 or 64 unsigned bits.
template <typename T>
using Wide = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;
template <typename T>
REGRAPH_INLINE Wide<T> wide(T value) {
  return static_cast<Wide<T>>(value);
}

template <Operation>
struct Function {};

#define REGRAPH_UNARY(operation, constraint, ...)           \
  template <>                                               \
  struct Function<Operation::operation> {                   \
    template <constraint L, typename T = typename L::Value> \
    static REGRAPH_INLINE T apply([[maybe_unused]] T a) {   \
      __VA_ARGS__                                           \
    }                                                       \
  };
#define REGRAPH_BINARY(operation, constraint, ...)             \
  template <>                                                  \
  struct Function<Operation::operation> {                      \
    template <constraint L, typename T = typename L::Value>    \
    static REGRAPH_INLINE T apply(T a, [[maybe_unused]] T b) { \
      __VA_ARGS__                                              \
    }                                                          \
  };
#define REGRAPH_TERNARY(operation, constraint, ...)                 \
  template <>                                                       \
  struct Function<Operation::operation> {                           \
    template <constraint L, typename T = typename L::Value>         \
    static REGRAPH_INLINE T apply(T a, T b, [[maybe_unused]] T c) { \
      __VA_ARGS__                                                   \
    }                                                               \
  };
template <typename L>
concept Any = true;

REGRAPH_BINARY(add, Any, {
  if constexpr (Integer<L>)
    return static_cast<T>(wide(a) + wide(b));
  else
    return a + b;
})
REGRAPH_BINARY(sub, Any, {
  if constexpr (Integer<L>)
    return static_cast<T>(wide(a) - wide(b));
  else
    return a - b;
})
REGRAPH_BINARY(mul, Any, {
  if constexpr (Integer<L>)
    return static_cast<T>(wide(a) * wide(b));
  else
    return a * b;
})
__extension__ using SignedWide = __int128;
__extension__ using UnsignedWide = unsigned __int128;
template <typename T>
REGRAPH_INLINE T high_product(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Product = std::conditional_t<std::is_signed_v<T>, SignedWide, UnsignedWide>;
    return static_cast<T>((static_cast<Product>(a) * static_cast<Product>(b)) >> 64);
  } else {
    using Product = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>((static_cast<Product>(a) * static_cast<Product>(b)) >> (8 * sizeof(T)));
  }
}
REGRAPH_BINARY(mul_high, Integer, return high_product(a, b);)
// Division by zero does not trap on the hardware; all bits set is what it returns.
REGRAPH_BINARY(div, Any, {
  if constexpr (Real<L>) {
    return a / b;
  } else if constexpr (std::is_signed_v<T>) {
    if (b == 0) return static_cast<T>(-1);
    if (b == -1) return static_cast<T>(0 - wide(a));
    return static_cast<T>(a / b);
  } else {
    return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(a / b);
  }
})
// PTX ISA, "div.approx": beyond 2^126 the divisor's reciprocal is taken to be 0.
REGRAPH_BINARY(div_approximate, Single, {
  constexpr T kLargestDivisor = 0x1p126F;
  return __builtin_fabsf(b) > kLargestDivisor && !__builtin_isinf(b)
             ? a * __builtin_copysignf(T{0}, b)
             : a / b;
})
REGRAPH_BINARY(rem, Integer, {
  if (b == 0) return a;
  if constexpr (std::is_signed_v<T>) {
    if (b == -1) return T{0};
  }
  return static_cast<T>(a % b);
})
REGRAPH_BINARY(min, Any, {
  if constexpr (Integer<L>) {
    return a < b ? a : b;
  } else {
    const T smaller = a == b ? (__builtin_signbit(a) ? a : b) : (a < b ? a : b);
    return a != a ? b : (b != b ? a : smaller);
  }
})
REGRAPH_BINARY(max, Any, {
  if constexpr (Integer<L>) {
    return a > b ? a : b;
  } else {
    const T larger = a == b ? (__builtin_signbit(a) ? b : a) : (a > b ? a : b);
    return a != a ? b : (b != b ? a : larger);
  }
})
REGRAPH_BINARY(min_nan, Real, {
  const T smaller = a == b ? (__builtin_signbit(a) ? a : b) : (a < b ? a : b);
  return a != a ? a : (b != b ? b : smaller);
})
REGRAPH_BINARY(max_nan, Real, {
  const T larger = a == b ? (__builtin_signbit(a) ? b : a) : (a > b ? a : b);
  return a != a ? a : (b != b ? b : larger);
})
REGRAPH_BINARY(bit_and, Integer, return static_cast<T>(a & b);)
REGRAPH_BINARY(bit_or, Integer, return static_cast<T>(a | b);)
REGRAPH_BINARY(bit_xor, Integer, return static_cast<T>(a ^ b);)
REGRAPH_BINARY(copysign, Full, {
  // PTX copies the sign of the first operand to the second.
  return __builtin_copysign(b, a);
})
REGRAPH_TERNARY(sad, Integer, {
  const Wide<T> distance = a > b ? wide(a) - wide(b) : wide(b) - wide(a);
  return static_cast<T>(wide(c) + distance);
})

REGRAPH_UNARY(neg, Any, {
  if constexpr (Integer<L>)
    return static_cast<T>(0 - wide(a));
  else
    return -a;
})
REGRAPH_UNARY(abs, Any, {
  if constexpr (Real<L>)
    return __builtin_fabs(a);
  else
    return static_cast<T>(a < 0 ? 0 - wide(a) : wide(a));
})
REGRAPH_UNARY(bit_not, Integer, return static_cast<T>(~a);)
REGRAPH_UNARY(logical_not, Integer, return static_cast<T>(a == 0);)
REGRAPH_UNARY(bit_reverse, Word, {
  std::uint64_t x = static_cast<Unsigned<T>>(a);
  x = ((x >> 1) & 0x5555555555555555ULL) | ((x & 0x5555555555555555ULL) << 1);
  x = ((x >> 2) & 0x3333333333333333ULL) | ((x & 0x3333333333333333ULL) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fULL) | ((x & 0x0f0f0f0f0f0f0f0fULL) << 4);
  x = __builtin_bswap64(x);
  return static_cast<T>(x >> (64 - 8 * sizeof(T)));
})
REGRAPH_UNARY(square_root, Real,
              return static_cast<T>(sizeof(T) == 4 ? __builtin_sqrtf(a) : __builtin_sqrt(a));)
REGRAPH_UNARY(reciprocal, Real, return static_cast<T>(1) / a;)
REGRAPH_UNARY(reciprocal_square_root, Real, return static_cast<T>(1.0 / __builtin_sqrt(a));)
REGRAPH_UNARY(sine, Real, return static_cast<T>(sine_of(a, 0));)
REGRAPH_UNARY(cosine, Real, return static_cast<T>(sine_of(a, 1));)
REGRAPH_UNARY(exp2, Real, return static_cast<T>(exp2_of(a));)
REGRAPH_UNARY(log2, Real, return static_cast<T>(log2_of(a));)
REGRAPH_UNARY(tanh, Real, return static_cast<T>(tanh_of(a));)
// .sat: to [0, 1], NaN to +0.
REGRAPH_UNARY(saturate, Real, return a > T{0} ? (a < T{1} ? a : T{1}) : T{0};)
// f32 lanes flush as they are read and written; halves, held in double, here.
REGRAPH_UNARY(flush, Real, {
  if constexpr (std::is_same_v<L, Lane<LaneType::f16>>)
    return __builtin_fabs(a) < 0x1p-14 ? __builtin_copysign(T{0}, a) : a;
  else
    return a;
})
REGRAPH_UNARY(relu, Real, return a > T{0} || a != a ? a : T{0};)
REGRAPH_UNARY(sign_extend_8, Word, return static_cast<T>(static_cast<std::int8_t>(a));)
REGRAPH_UNARY(zero_extend_8, Word, return static_cast<T>(static_cast<std::uint8_t>(a));)
REGRAPH_UNARY(sign_extend_16, Word, return static_cast<T>(static_cast<std::int16_t>(a));)
REGRAPH_UNARY(zero_extend_16, Word, return static_cast<T>(static_cast<std::uint16_t>(a));)
REGRAPH_UNARY(round_nearest, Real, return static_cast<T>(__builtin_rint(a));)
REGRAPH_UNARY(round_zero, Real, return static_cast<T>(__builtin_trunc(a));)
REGRAPH_UNARY(round_down, Real, return static_cast<T>(__builtin_floor(a));)
REGRAPH_UNARY(round_up, Real, return static_cast<T>(__builtin_ceil(a));)

REGRAPH_TERNARY(multiply_add, Integer, return static_cast<T>(wide(a) * wide(b) + wide(c));)
REGRAPH_TERNARY(multiply_add_high, Integer,
                return static_cast<T>(wide(high_product(a, b)) + wide(c));)
REGRAPH_TERNARY(fused_multiply_add, Real, {
  if constexpr (Single<L>)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
})
// Count of selector bytes, each choosing one of the eight bytes of {b, a}; bit 3 replicates the
// sign.
template <>
struct Function<Operation::permute> {
  template <typename L>
  requires std::is_same_v<L, Lane<LaneType::u32>>
  static REGRAPH_INLINE std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t bytes = (static_cast<std::uint64_t>(b) << 32) | a;
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t selector = (c >> (4 * i)) & 0xfU;
      const auto byte = static_cast<std::uint32_t>(bytes >> (8 * (selector & 7U))) & 0xffU;
      const std::uint32_t sign = (byte & 0x80U) != 0 ? 0xffU : 0U;
      result |= ((selector & 8U) != 0 ? sign : byte) << (8 * i);
    }
    return result;
  }
};
