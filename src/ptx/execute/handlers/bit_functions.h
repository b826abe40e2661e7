// Shifts, bit fields, funnel shifts and dot products. Included inside a handler set's namespace.

// Shift counts are 32-bit whatever the lane type and clamp at the width.
template <>
struct Function<Operation::shift_left> {
  template <Integer L, typename T = typename L::Value>
  static REGRAPH_INLINE T apply_shift(T a, std::uint32_t count) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    return count >= kBits ? T{0} : static_cast<T>(wide(a) << (count & (8 * sizeof(Wide<T>) - 1)));
  }
};
template <>
struct Function<Operation::shift_right> {
  template <Integer L, typename T = typename L::Value>
  static REGRAPH_INLINE T apply_shift(T a, std::uint32_t count) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) {
      return static_cast<T>(a >> (count < kBits ? count : kBits - 1));
    } else {
      return count >= kBits ? T{0} : static_cast<T>(a >> (count & (kBits - 1)));
    }
  }
};

// Fields: position and length are taken modulo 256; bits beyond the operand repeat its sign (or 0).
template <>
struct Function<Operation::bit_field_extract> {
  template <Word L, typename T = typename L::Value>
  static REGRAPH_INLINE T apply_field(T a, std::uint32_t position, std::uint32_t length) {
    using U = Unsigned<T>;
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t start = position & 0xffU;
    const std::uint32_t width = length & 0xffU;
    const std::uint32_t room = start < kBits ? kBits - start : 0;
    const std::uint32_t taken = width < room ? width : room;
    const U mask = taken >= kBits ? static_cast<U>(~U{0})
                                  : static_cast<U>((U{1} << (taken & (kBits - 1))) - 1);
    const U field = start < kBits ? static_cast<U>(static_cast<U>(a) >> start) : U{0};
    const std::uint32_t last = start + width - 1 < kBits ? start + width - 1 : kBits - 1;
    const bool negative =
        std::is_signed_v<T> && width != 0 && ((static_cast<U>(a) >> last) & 1) != 0;
    return static_cast<T>((field & mask) | (negative ? static_cast<U>(~mask) : U{0}));
  }
};
template <>
struct Function<Operation::bit_field_insert> {
  template <Word L, typename T = typename L::Value>
  requires std::is_unsigned_v<T>
  static REGRAPH_INLINE T apply_insert(T a, T b, std::uint32_t position, std::uint32_t length) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t start = position & 0xffU;
    const std::uint32_t width = length & 0xffU;
    if (start >= kBits || width == 0) return b;
    const T ones = width >= kBits ? static_cast<T>(~T{0})
                                  : static_cast<T>((T{1} << (width & (kBits - 1))) - 1);
    const T mask = static_cast<T>(ones << start);
    return static_cast<T>((b & ~mask) | ((a << start) & mask));
  }
};
// d = the bit mask that bmsk builds.
template <>
struct Function<Operation::bit_field_mask> {
  template <typename L>
  requires std::is_same_v<L, Lane<LaneType::u32>>
  static REGRAPH_INLINE std::uint32_t apply(std::uint32_t start, std::uint32_t width) {
    if (start > 31 || width == 0) return 0;
    return (width > 31 ? 0xffffffffU : (1U << width) - 1) << start;
  }
};

#define REGRAPH_U32_TERNARY(operation, ...)                                                        \
  template <>                                                                                      \
  struct Function<Operation::operation> {                                                          \
    template <typename L>                                                                          \
    requires std::is_same_v<L, Lane<LaneType::u32>>                                                \
    static REGRAPH_INLINE std::uint32_t apply(std::uint32_t a, std::uint32_t b, std::uint32_t c) { \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  };
REGRAPH_INLINE std::uint32_t funnel_left(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  const std::uint64_t both = (static_cast<std::uint64_t>(b) << 32) | a;
  return static_cast<std::uint32_t>((both << count) >> 32);
}
REGRAPH_INLINE std::uint32_t funnel_right(std::uint32_t a, std::uint32_t b, std::uint32_t count) {
  const std::uint64_t both = (static_cast<std::uint64_t>(b) << 32) | a;
  return static_cast<std::uint32_t>(both >> count);
}
REGRAPH_U32_TERNARY(funnel_left_wrap, return funnel_left(a, b, c & 31U);)
REGRAPH_U32_TERNARY(funnel_left_clamp, return funnel_left(a, b, c < 32U ? c : 32U);)
REGRAPH_U32_TERNARY(funnel_right_wrap, return funnel_right(a, b, c & 31U);)
REGRAPH_U32_TERNARY(funnel_right_clamp, return funnel_right(a, b, c < 32U ? c : 32U);)

template <typename A, typename B>
REGRAPH_INLINE std::uint32_t dot_product(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  for (int i = 0; i < 4; ++i) {
    const auto x = static_cast<std::int32_t>(static_cast<A>(a >> (8 * i)));
    const auto y = static_cast<std::int32_t>(static_cast<B>(b >> (8 * i)));
    c += static_cast<std::uint32_t>(x * y);
  }
  return c;
}
REGRAPH_U32_TERNARY(dot_product_4_uu, return (dot_product<std::uint8_t, std::uint8_t>(a, b, c));)
REGRAPH_U32_TERNARY(dot_product_4_ss, return (dot_product<std::int8_t, std::int8_t>(a, b, c));)
REGRAPH_U32_TERNARY(dot_product_4_us, return (dot_product<std::uint8_t, std::int8_t>(a, b, c));)
REGRAPH_U32_TERNARY(dot_product_4_su, return (dot_product<std::int8_t, std::uint8_t>(a, b, c));)

// Results of 32 bits whatever the operand's width.
template <>
struct Function<Operation::popcount> {
  template <Word L, typename T = typename L::Value>
  requires std::is_unsigned_v<T>
  static REGRAPH_INLINE std::uint32_t apply_count(T a) {
    return static_cast<std::uint32_t>(__builtin_popcountll(a));
  }
};
template <>
struct Function<Operation::leading_zeros> {
  template <Word L, typename T = typename L::Value>
  requires std::is_unsigned_v<T>
  static REGRAPH_INLINE std::uint32_t apply_count(T a) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    return a == 0 ? kBits : static_cast<std::uint32_t>(__builtin_clzll(a)) - (64 - kBits);
  }
};
// Position of the most significant bit that differs from the sign; 0xffffffff when there is none.
template <>
struct Function<Operation::find_leading> {
  template <Word L, typename T = typename L::Value>
  static REGRAPH_INLINE std::uint32_t apply_count(T a) {
    const auto bits = static_cast<Unsigned<T>>(a < 0 ? ~a : a);
    return bits == 0 ? 0xffffffffU : 63U - static_cast<std::uint32_t>(__builtin_clzll(bits));
  }
};
template <>
struct Function<Operation::find_leading_shift> {
  template <Word L, typename T = typename L::Value>
  static REGRAPH_INLINE std::uint32_t apply_count(T a) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    const std::uint32_t position = Function<Operation::find_leading>::apply_count<L>(a);
    return position == 0xffffffffU ? position : kBits - 1 - position;
  }
};
