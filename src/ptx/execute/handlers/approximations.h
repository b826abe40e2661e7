// ex2, lg2, sin, cos and tanh in double precision arithmetic: far closer than the hardware's 2 ulp,
// and the same operations in the same order in every handler set. Included inside a set's
// namespace.

// Nearest integer for |x| < 2^51, as double and as the low bits of a 64-bit pattern.
REGRAPH_INLINE double nearest_integer(double x) {
  return (x + 0x1.8p52) - 0x1.8p52;
}
REGRAPH_INLINE std::int64_t nearest_integer_bits(double x) {
  return static_cast<std::int64_t>(bits_of(x + 0x1.8p52) - bits_of(0x1.8p52));
}

REGRAPH_INLINE double exp2_of(double x) {
  // Beyond these bounds the result is 0 or infinite in f32 (and the exponent arithmetic stays
  // valid).
  const double clamped = x < -1000.0 ? -1000.0 : (x > 1000.0 ? 1000.0 : x);
  const double safe = x == x ? clamped : 0.0;
  const double fraction = (safe - nearest_integer(safe)) * 0.6931471805599453;  // ln 2
  // Taylor series of e^y for |y| <= ln(2)/2; the remainder is below 2^-52.
  double y = 1.0 / 479001600.0;
  y = y * fraction + 1.0 / 39916800.0;
  y = y * fraction + 1.0 / 3628800.0;
  y = y * fraction + 1.0 / 362880.0;
  y = y * fraction + 1.0 / 40320.0;
  y = y * fraction + 1.0 / 5040.0;
  y = y * fraction + 1.0 / 720.0;
  y = y * fraction + 1.0 / 120.0;
  y = y * fraction + 1.0 / 24.0;
  y = y * fraction + 1.0 / 6.0;
  y = y * fraction + 0.5;
  y = y * fraction + 1.0;
  y = y * fraction + 1.0;
  const auto exponent = static_cast<std::uint64_t>(nearest_integer_bits(safe)) << 52;
  return x == x ? double_of(bits_of(y) + exponent) : x;
}

REGRAPH_INLINE double log2_of(double x) {
  const std::uint64_t bits = bits_of(x);
  // Mantissa in [sqrt(1/2), sqrt(2)): shift the exponent boundary to sqrt(1/2).
  constexpr std::uint64_t kRootHalf = 0x3fe6a09e667f3bcdULL;
  const std::uint64_t shifted = bits - kRootHalf;
  const auto exponent = static_cast<std::int64_t>(shifted) >> 52;
  const double mantissa = double_of(bits - (static_cast<std::uint64_t>(exponent) << 52));
  // The exponent fits 12 bits: convert it through the mantissa of 1.5 * 2^52.
  const double exponent_value =
      double_of(bits_of(0x1.8p52) + static_cast<std::uint64_t>(exponent)) - 0x1.8p52;
  // log(m) = 2 atanh(s), s = (m - 1) / (m + 1), |s| <= 0.172.
  const double s = (mantissa - 1.0) / (mantissa + 1.0);
  const double z = s * s;
  double y = 1.0 / 17.0;
  y = y * z + 1.0 / 15.0;
  y = y * z + 1.0 / 13.0;
  y = y * z + 1.0 / 11.0;
  y = y * z + 1.0 / 9.0;
  y = y * z + 1.0 / 7.0;
  y = y * z + 1.0 / 5.0;
  y = y * z + 1.0 / 3.0;
  y = y * z + 1.0;
  const double result = exponent_value + y * s * 2.8853900817779268;  // 2 / ln 2
  const double infinity = __builtin_inf();
  const double finite = x == infinity ? infinity : result;
  return x > 0.0 ? finite : (x == 0.0 ? -infinity : __builtin_nan(""));
}

// sin(x + quarter_turns * pi / 2).
REGRAPH_INLINE double sine_of(double x, std::int64_t quarter_turns) {
  // The hardware's accuracy is specified near zero only; beyond this the argument carries no phase.
  const bool usable = __builtin_fabs(x) < 0x1p30;
  const double safe = usable ? x : 0.0;
  const double turns = safe * 0.6366197723675814;  // 2 / pi
  const double n = nearest_integer(turns);
  const std::int64_t quadrant = nearest_integer_bits(turns) + quarter_turns;
  // pi / 2 in two parts, the first with trailing zeros so that n times it is exact.
  const double r = (safe - n * 1.5707963267341256) - n * 6.077100506506192e-11;
  const double z = r * r;
  double sine = 1.0 / 6227020800.0;
  sine = sine * z - 1.0 / 39916800.0;
  sine = sine * z + 1.0 / 362880.0;
  sine = sine * z - 1.0 / 5040.0;
  sine = sine * z + 1.0 / 120.0;
  sine = sine * z - 1.0 / 6.0;
  sine = sine * z * r + r;
  double cosine = 1.0 / 479001600.0;
  cosine = cosine * z - 1.0 / 3628800.0;
  cosine = cosine * z + 1.0 / 40320.0;
  cosine = cosine * z - 1.0 / 720.0;
  cosine = cosine * z + 1.0 / 24.0;
  cosine = cosine * z - 0.5;
  cosine = cosine * z + 1.0;
  const double value = (quadrant & 1) != 0 ? cosine : sine;
  const double result = (quadrant & 2) != 0 ? -value : value;
  return __builtin_fabs(x) < __builtin_inf() ? result : __builtin_nan("");
}

REGRAPH_INLINE double tanh_of(double x) {
  const double bounded = x > 20.0 ? 20.0 : (x < -20.0 ? -20.0 : x);
  const double power = exp2_of(bounded * 2.8853900817779268);  // e^(2x)
  const double result = (power - 1.0) / (power + 1.0);
  return __builtin_fabs(x) < 0x1p-13 ? x : result;
}
