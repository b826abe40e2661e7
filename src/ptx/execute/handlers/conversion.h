// Conversions and operations with a rounding mode. Included inside a handler set's namespace.

// Adds or takes one unit in the last place towards the mode's side when `rest`, the part that
// rounding to nearest lost, lies on that side.
template <typename T>
REGRAPH_INLINE T adjust(T nearest, double rest, RoundingMode mode) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const Bits bits = bits_of(nearest);
  constexpr Bits kSign = Bits{1} << (8 * sizeof(T) - 1);
  const bool negative = (bits & kSign) != 0;
  const bool down = mode == RoundingMode::down || (mode == RoundingMode::zero && !negative);
  const bool up = mode == RoundingMode::up || (mode == RoundingMode::zero && negative);
  const bool zero = (bits & ~kSign) == 0;
  // Next value below or above in the order of the reals.
  const Bits below =
      zero ? static_cast<Bits>(kSign | 1U) : static_cast<Bits>(negative ? bits + 1 : bits - 1);
  const Bits above =
      zero ? static_cast<Bits>(1U) : static_cast<Bits>(negative ? bits - 1 : bits + 1);
  Bits result = bits;
  result = down && rest < 0 ? below : result;
  result = up && rest > 0 ? above : result;
  return __builtin_bit_cast(T, result);
}
// Rounds the exact sum high + low (|low| far below |high|) to f32.
REGRAPH_INLINE float round_to_float(double high, double low, RoundingMode mode) {
  const auto nearest = static_cast<float>(high);
  if (high != high) return nearest;
  const double back = nearest;
  const bool overflow =
      __builtin_fabs(back) == __builtin_inf() && __builtin_fabs(high) < __builtin_inf();
  const double rest = overflow ? (high > 0 ? -1.0 : 1.0) : (high - back) + low;
  return __builtin_fabs(high) < __builtin_inf() ? adjust(nearest, rest, mode) : nearest;
}

// Exact error of a sum (Knuth's TwoSum).
REGRAPH_INLINE double sum_error(double a, double b, double sum) {
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

template <Operation O, typename L>
REGRAPH_INLINE typename L::Value rounded(typename L::Value a, typename L::Value b,
                                         typename L::Value c, RoundingMode mode) {
  if constexpr (std::is_same_v<typename L::Value, float>) {
    if constexpr (O == Operation::add_rounded) {
      const double sum = static_cast<double>(a) + static_cast<double>(b);
      return round_to_float(sum, sum_error(a, b, sum), mode);
    } else if constexpr (O == Operation::mul_rounded) {
      return round_to_float(static_cast<double>(a) * static_cast<double>(b), 0.0, mode);
    } else if constexpr (O == Operation::fused_multiply_add_rounded) {
      const double product = static_cast<double>(a) * static_cast<double>(b);
      const double sum = product + static_cast<double>(c);
      return round_to_float(sum, sum_error(product, c, sum), mode);
    } else {
      // The remainder's sign tells on which side of the quotient or root the exact value lies.
      const bool root = O == Operation::square_root_rounded;
      const float nearest = root ? __builtin_sqrtf(a) : a / b;
      const bool finite = __builtin_fabsf(nearest) < __builtin_inff() &&
                          (root || __builtin_fabsf(b) < __builtin_inff());
      const double back = nearest;
      const double remainder =
          static_cast<double>(a) - back * (root ? back : static_cast<double>(b));
      const double rest = !root && b < 0 ? -remainder : remainder;
      return finite ? adjust(nearest, rest, mode) : nearest;
    }
  } else {
    return rounded_double(O, a, b, c, mode);
  }
}
template <Operation O, typename L>
const Record* rounded_lanes(const Record* r, Warp& w) {
  const Operands<L> from(r, w);
  // One loop a mode, so that the mode is a constant inside each.
  const auto in_mode = [&](auto mode) {
    return for_lanes<typename L::Slot>(r, w, [=](int l) {
      return L::write(rounded<O, L>(from.read_a(l), from.read_b(l), from.read_c(l), mode.value));
    });
  };
  switch (static_cast<RoundingMode>(r->e)) {
    case RoundingMode::down:
      return in_mode(std::integral_constant<RoundingMode, RoundingMode::down>());
    case RoundingMode::up:
      return in_mode(std::integral_constant<RoundingMode, RoundingMode::up>());
    default:
      return in_mode(std::integral_constant<RoundingMode, RoundingMode::zero>());
  }
}

// Float to integer: out of range clamps, NaN gives 0 (32 bits and less) or the most negative
// pattern.
template <typename Integer, typename Real>
REGRAPH_INLINE Integer to_integer(Real value) {
  constexpr Integer kLowest = std::numeric_limits<Integer>::min();
  constexpr Integer kLargest = std::numeric_limits<Integer>::max();
  // 2^bits or 2^(bits-1): exact in every real type.
  constexpr Real kLimit = static_cast<Real>((std::is_signed_v<Integer> ? 0.5 : 1.0) *
                                            (sizeof(Integer) == 4 ? 0x1p32 : 0x1p64));
  const Real low = static_cast<Real>(kLowest);
  if (value != value) return sizeof(Integer) == 8 ? static_cast<Integer>(1ULL << 63) : Integer{0};
  if (value >= kLimit) return kLargest;
  if (value <= low) return kLowest;
  return static_cast<Integer>(value);
}
template <typename Real>
REGRAPH_INLINE Real round_integral(Real value, RoundingMode mode) {
  switch (mode) {
    case RoundingMode::nearest:
      return static_cast<Real>(__builtin_rint(value));
    case RoundingMode::zero:
      return static_cast<Real>(__builtin_trunc(value));
    case RoundingMode::down:
      return static_cast<Real>(__builtin_floor(value));
    default:
      return static_cast<Real>(__builtin_ceil(value));
  }
}
// Integer to real in any rounding mode: the error of the nearest conversion is an exact integer.
template <typename Real, typename Integer>
REGRAPH_INLINE Real from_integer(Integer value, RoundingMode mode) {
  const auto nearest = static_cast<Real>(value);
  if (mode == RoundingMode::nearest || sizeof(Integer) < sizeof(Real)) return nearest;
  constexpr Real kLimit = static_cast<Real>((std::is_signed_v<Integer> ? 0.5 : 1.0) *
                                            (sizeof(Integer) == 4 ? 0x1p32 : 0x1p64));
  double rest = -1.0;  // rounded up to the limit itself, beyond every value
  if (nearest < kLimit) {
    const auto back = static_cast<Integer>(nearest);
    rest = value > back ? 1.0 : (value < back ? -1.0 : 0.0);
  }
  return adjust(nearest, rest, mode);
}

template <typename To>
REGRAPH_INLINE std::uint32_t write_half_rounded(double value, RoundingMode mode) {
  const std::uint32_t nearest = To::write(value);
  const double rest = value - To::read(nearest);
  const bool negative = (nearest & 0x8000U) != 0;
  const bool shrink = rest != 0 && ((rest < 0) != negative);
  const bool toward = mode == RoundingMode::zero || (mode == RoundingMode::down && !negative) ||
                      (mode == RoundingMode::up && negative);
  if (value != value || rest == 0 || rest != rest) return nearest;
  if (toward) return shrink ? nearest - 1 : nearest;
  return shrink ? nearest : nearest + 1;
}

template <typename To, typename From, bool kSaturate>
REGRAPH_INLINE typename To::Slot convert_value(typename From::Slot slot, RoundingMode mode) {
  const auto value = From::read(slot);
  using S = typename From::Value;
  using D = typename To::Value;
  if constexpr (To::is_integer && From::is_integer) {
    if constexpr (kSaturate) {
      constexpr D kLowest = std::numeric_limits<D>::min();
      constexpr D kLargest = std::numeric_limits<D>::max();
      const auto exact = static_cast<SignedWide>(value);
      if (exact < static_cast<SignedWide>(kLowest)) return To::write(kLowest);
      if (exact > static_cast<SignedWide>(kLargest)) return To::write(kLargest);
    }
    return To::write(static_cast<D>(value));
  } else if constexpr (To::is_integer) {
    if constexpr (sizeof(D) == 2) {
      // 16-bit targets clamp to their own range.
      using Middle = std::int32_t;
      const Middle middle = to_integer<Middle>(round_integral(value, mode));
      constexpr Middle kLowest = std::numeric_limits<D>::min();
      constexpr Middle kLargest = std::numeric_limits<D>::max();
      return To::write(
          static_cast<D>(middle < kLowest ? kLowest : (middle > kLargest ? kLargest : middle)));
    } else {
      return To::write(to_integer<D>(round_integral(value, mode)));
    }
  } else if constexpr (From::is_integer) {
    return To::write(static_cast<D>(from_integer<D, S>(value, mode)));
  } else if constexpr (std::is_same_v<D, float> && std::is_same_v<S, double>) {
    if (mode == RoundingMode::nearest) return To::write(static_cast<float>(value));
    return To::write(round_to_float(value, 0.0, mode));
  } else if constexpr (!std::is_same_v<typename To::Slot, typename From::Slot> ||
                       !std::is_same_v<D, S>) {
    if (mode == RoundingMode::nearest || sizeof(typename To::Slot) == 8 ||
        std::is_same_v<D, float>) {
      return To::write(static_cast<D>(value));
    }
    // A half in a directed mode: cut the mantissa first so that rounding to nearest has nothing to
    // do.
    return write_half_rounded<To>(value, mode);
  } else {
    return To::write(static_cast<D>(value));
  }
}
template <typename To, typename From, bool kSaturate>
const Record* convert(const Record* r, Warp& w) {
  const auto mode = static_cast<RoundingMode>(r->e);
  const auto* a = lanes<typename From::Slot>(w, r->a);
  // One loop a mode, so that the mode is a constant inside each.
  switch (mode) {
    case RoundingMode::nearest:
      return for_lanes<typename To::Slot>(r, w, [=](int l) {
        return convert_value<To, From, kSaturate>(a[l], RoundingMode::nearest);
      });
    case RoundingMode::zero:
      return for_lanes<typename To::Slot>(r, w, [=](int l) {
        return convert_value<To, From, kSaturate>(a[l], RoundingMode::zero);
      });
    default:
      return for_lanes<typename To::Slot>(
          r, w, [=](int l) { return convert_value<To, From, kSaturate>(a[l], mode); });
  }
}
