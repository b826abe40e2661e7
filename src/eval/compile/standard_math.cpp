#include "eval/compile/standard_headers.h"

namespace regraph::compile_internal {

// Integer arguments are double to the standard library; NVRTC finds such calls ambiguous.
const char* const kStandardMath = R"cuda(#pragma once
#include <math.h>
#include <type_traits>
#define REGRAPH_OF_INTEGER(name)                                                              \
  template <class T>                                                                          \
  __device__ __forceinline__ std::enable_if_t<std::is_integral<T>::value, double> name(T x) { \
    return ::name(static_cast<double>(x));                                                    \
  }
REGRAPH_OF_INTEGER(sqrt)
REGRAPH_OF_INTEGER(cbrt) REGRAPH_OF_INTEGER(exp) REGRAPH_OF_INTEGER(exp2) REGRAPH_OF_INTEGER(expm1)
    REGRAPH_OF_INTEGER(log) REGRAPH_OF_INTEGER(log2) REGRAPH_OF_INTEGER(log10)
        REGRAPH_OF_INTEGER(log1p) REGRAPH_OF_INTEGER(sin) REGRAPH_OF_INTEGER(cos)
            REGRAPH_OF_INTEGER(tan) REGRAPH_OF_INTEGER(asin) REGRAPH_OF_INTEGER(acos)
                REGRAPH_OF_INTEGER(atan) REGRAPH_OF_INTEGER(sinh) REGRAPH_OF_INTEGER(cosh)
                    REGRAPH_OF_INTEGER(tanh) REGRAPH_OF_INTEGER(floor) REGRAPH_OF_INTEGER(ceil)
                        REGRAPH_OF_INTEGER(fabs) REGRAPH_OF_INTEGER(round) REGRAPH_OF_INTEGER(trunc)
                            REGRAPH_OF_INTEGER(erf) REGRAPH_OF_INTEGER(erfc)
#undef REGRAPH_OF_INTEGER
#define REGRAPH_OF_MIXED(name)                                                         \
  template <class T, class U>                                                          \
  __device__ __forceinline__                                                           \
      std::enable_if_t<std::is_arithmetic<T>::value && std::is_arithmetic<U>::value && \
                           (std::is_integral<T>::value || std::is_integral<U>::value), \
                       double>                                                         \
      name(T x, U y) {                                                                 \
    return ::name(static_cast<double>(x), static_cast<double>(y));                     \
  }
                                REGRAPH_OF_MIXED(pow) REGRAPH_OF_MIXED(fmod) REGRAPH_OF_MIXED(atan2)
                                    REGRAPH_OF_MIXED(hypot) REGRAPH_OF_MIXED(fmax)
                                        REGRAPH_OF_MIXED(fmin)
#undef REGRAPH_OF_MIXED
                                            namespace std {
  using ::abs;
  using ::acos;
  using ::acosh;
  using ::asin;
  using ::asinh;
  using ::atan;
  using ::atan2;
  using ::atanh;
  using ::cbrt;
  using ::ceil;
  using ::ceilf;
  using ::copysign;
  using ::cos;
  using ::cosf;
  using ::cosh;
  using ::erf;
  using ::erfc;
  using ::exp;
  using ::exp2;
  using ::exp2f;
  using ::expf;
  using ::expm1;
  using ::fabs;
  using ::fabsf;
  using ::fdim;
  using ::floor;
  using ::floorf;
  using ::fma;
  using ::fmax;
  using ::fmaxf;
  using ::fmin;
  using ::fminf;
  using ::fmod;
  using ::fmodf;
  using ::frexp;
  using ::hypot;
  using ::ilogb;
  using ::isfinite;
  using ::isinf;
  using ::isnan;
  using ::ldexp;
  using ::lgamma;
  using ::llrint;
  using ::llround;
  using ::log;
  using ::log10;
  using ::log10f;
  using ::log1p;
  using ::log2;
  using ::log2f;
  using ::logb;
  using ::logf;
  using ::lrint;
  using ::lround;
  using ::modf;
  using ::nearbyint;
  using ::nextafter;
  using ::pow;
  using ::powf;
  using ::remainder;
  using ::rint;
  using ::round;
  using ::roundf;
  using ::scalbn;
  using ::signbit;
  using ::sin;
  using ::sinf;
  using ::sinh;
  using ::sqrt;
  using ::sqrtf;
  using ::tan;
  using ::tanh;
  using ::tanhf;
  using ::tgamma;
  using ::trunc;
}
)cuda";

}  // namespace regraph::compile_internal
