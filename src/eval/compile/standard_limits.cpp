#include "eval/compile/standard_headers.h"

namespace regraph::compile_internal {

const char* const kStandardLimits = R"cuda(#pragma once
#include <type_traits>
namespace std {
enum float_round_style { round_indeterminate = -1, round_toward_zero = 0, round_to_nearest = 1 };
template <class T, bool = is_integral<T>::value>
struct regraph_limits {
  static constexpr bool is_specialized = false;
  static constexpr T min() noexcept { return T(); }
  static constexpr T max() noexcept { return T(); }
  static constexpr T lowest() noexcept { return T(); }
};
template <class T>
struct regraph_limits<T, true> {
  static constexpr bool is_specialized = true, is_integer = true, is_exact = true,
                        is_bounded = true;
  static constexpr bool is_signed = T(-1) < T(0), is_modulo = !is_signed;
  static constexpr bool has_infinity = false, has_quiet_NaN = false, has_signaling_NaN = false,
                        is_iec559 = false;
  static constexpr int radix = 2;
  static constexpr int digits = is_same<T, bool>::value ? 1 : int(sizeof(T) * 8) - is_signed;
  static constexpr int digits10 = digits * 30103 / 100000;
  static constexpr int max_digits10 = 0, min_exponent = 0, max_exponent = 0;
  static constexpr T max() noexcept {
    if constexpr (is_same<T, bool>::value)
      return true;
    else if constexpr (is_signed)
      return T(~(1ull << 63) >> (64 - sizeof(T) * 8));
    else
      return T(~0ull);
  }
  static constexpr T min() noexcept { return is_signed ? T(-max() - 1) : T(0); }
  static constexpr T lowest() noexcept { return min(); }
  static constexpr T epsilon() noexcept { return T(0); }
  static constexpr T round_error() noexcept { return T(0); }
  static constexpr T infinity() noexcept { return T(0); }
  static constexpr T quiet_NaN() noexcept { return T(0); }
};
struct regraph_floating_limits {
  static constexpr bool is_specialized = true, is_signed = true, is_integer = false,
                        is_exact = false, is_bounded = true;
  static constexpr bool has_infinity = true, has_quiet_NaN = true, has_signaling_NaN = true,
                        is_iec559 = true, is_modulo = false;
  static constexpr int radix = 2;
  static constexpr float_round_style round_style = round_to_nearest;
};
template <>
struct regraph_limits<float, false> : regraph_floating_limits {
  static constexpr int digits = 24, digits10 = 6, max_digits10 = 9;
  static constexpr int min_exponent = -125, max_exponent = 128, min_exponent10 = -37,
                       max_exponent10 = 38;
  static constexpr float min() noexcept { return 1.17549435e-38f; }
  static constexpr float max() noexcept { return 3.40282347e+38f; }
  static constexpr float lowest() noexcept { return -3.40282347e+38f; }
  static constexpr float epsilon() noexcept { return 1.19209290e-7f; }
  static constexpr float round_error() noexcept { return 0.5f; }
  static constexpr float denorm_min() noexcept { return __builtin_bit_cast(float, 1u); }
  static constexpr float infinity() noexcept { return __builtin_bit_cast(float, 0x7f800000u); }
  static constexpr float quiet_NaN() noexcept { return __builtin_bit_cast(float, 0x7fc00000u); }
  static constexpr float signaling_NaN() noexcept { return __builtin_bit_cast(float, 0x7fa00000u); }
};
template <>
struct regraph_limits<double, false> : regraph_floating_limits {
  static constexpr int digits = 53, digits10 = 15, max_digits10 = 17;
  static constexpr int min_exponent = -1021, max_exponent = 1024, min_exponent10 = -307,
                       max_exponent10 = 308;
  static constexpr double min() noexcept { return 2.2250738585072014e-308; }
  static constexpr double max() noexcept { return 1.7976931348623157e+308; }
  static constexpr double lowest() noexcept { return -1.7976931348623157e+308; }
  static constexpr double epsilon() noexcept { return 2.2204460492503131e-16; }
  static constexpr double round_error() noexcept { return 0.5; }
  static constexpr double denorm_min() noexcept { return __builtin_bit_cast(double, 1ull); }
  static constexpr double infinity() noexcept {
    return __builtin_bit_cast(double, 0x7ff0000000000000ull);
  }
  static constexpr double quiet_NaN() noexcept {
    return __builtin_bit_cast(double, 0x7ff8000000000000ull);
  }
  static constexpr double signaling_NaN() noexcept {
    return __builtin_bit_cast(double, 0x7ff4000000000000ull);
  }
};
template <class T>
struct numeric_limits : regraph_limits<T> {};
template <class T>
struct numeric_limits<const T> : numeric_limits<T> {};
}
)cuda";

}  // namespace regraph::compile_internal
