#include "eval/compile/stub_headers.h"

#include "eval/compile/standard_headers.h"
#include "kernel/pytorch_headers.h"

namespace regraph::compile_internal {

namespace {

// Types and macro texts are those of CUDA's own libcu++ for NVRTC, so that including both is not a
// conflicting redefinition.
constexpr const char* kInteger = R"cuda(#pragma once
#include <limits.h>
using int8_t = signed char;
using int16_t = signed short;
using int32_t = signed int;
using int64_t = signed long long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long long;
using intptr_t = int64_t;
using uintptr_t = uint64_t;
#define INT8_MIN SCHAR_MIN
#define INT16_MIN SHRT_MIN
#define INT32_MIN INT_MIN
#define INT64_MIN LLONG_MIN
#define INT8_MAX SCHAR_MAX
#define INT16_MAX SHRT_MAX
#define INT32_MAX INT_MAX
#define INT64_MAX LLONG_MAX
#define UINT8_MAX UCHAR_MAX
#define UINT16_MAX USHRT_MAX
#define UINT32_MAX UINT_MAX
#define UINT64_MAX ULLONG_MAX
#define INTPTR_MIN INT64_MIN
#define INTPTR_MAX INT64_MAX
#define UINTPTR_MAX UINT64_MAX
#define PTRDIFF_MIN INT64_MIN
#define PTRDIFF_MAX INT64_MAX
#define SIZE_MAX UINT64_MAX
#define INT8_C(c) c
#define INT16_C(c) c
#define INT32_C(c) c
#define INT64_C(c) c##LL
#define UINT8_C(c) c
#define UINT16_C(c) c
#define UINT32_C(c) c##U
#define UINT64_C(c) c##ULL
)cuda";

constexpr const char* kLimits = R"cuda(#pragma once
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
)cuda";

constexpr const char* kFloat = R"cuda(#pragma once
#define FLT_MANT_DIG 24
#define FLT_DIG 6
#define FLT_EPSILON 1.19209290e-7F
#define FLT_MIN 1.17549435e-38F
#define FLT_MAX 3.40282347e+38F
#define DBL_MANT_DIG 53
#define DBL_DIG 15
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623157e+308
)cuda";

constexpr const char* kMath = R"cuda(#pragma once
#ifndef INFINITY
#define INFINITY (__builtin_bit_cast(float, 0x7F800000u))
#endif
#ifndef NAN
#define NAN (__builtin_bit_cast(float, 0x7FC00000u))
#endif
#ifndef HUGE_VALF
#define HUGE_VALF (__builtin_bit_cast(float, 0x7F800000u))
#define HUGE_VAL (__builtin_bit_cast(double, 0x7FF0000000000000ull))
#endif
#ifndef M_PI
#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#endif
)cuda";

constexpr const char* kPreludeHeaders = R"cuda(#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <limits.h>
#include <type_traits>
#include <utility>
)cuda";

// Without <algorithm> and <functional>, a third of a second of the host's headers: sources that use
// them include them, as nvcc's users must. std::min and std::max are there all the same.
constexpr const char* kNvccPreludeHeaders = R"cuda(#pragma once
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>
#include <limits>
#include <limits.h>
#include <type_traits>
#include <utility>
)cuda";

// Keywords of gcc, and what CUDA's own headers say of themselves, which NVRTC does not read.
constexpr const char* kKeywords = R"cuda(#define __const__ const
#define __volatile__ volatile
#define __signed__ signed
#ifndef CUDA_VERSION
#define CUDA_VERSION (__CUDACC_VER_MAJOR__ * 1000 + __CUDACC_VER_MINOR__ * 10)
#endif
#ifndef CUDART_VERSION
#define CUDART_VERSION CUDA_VERSION
#endif
)cuda";

constexpr const char* kOldNames = R"cuda(using uchar = unsigned char;
using ushort = unsigned short;
using uint = unsigned int;
using ulong = unsigned long;
template <typename T>
__device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {
  return __shfl_sync(0xffffffffu, value, lane, width);
}
template <typename T>
__device__ __forceinline__ T __shfl_up(T value, unsigned delta, int width = 32) {
  return __shfl_up_sync(0xffffffffu, value, delta, width);
}
template <typename T>
__device__ __forceinline__ T __shfl_down(T value, unsigned delta, int width = 32) {
  return __shfl_down_sync(0xffffffffu, value, delta, width);
}
template <typename T>
__device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {
  return __shfl_xor_sync(0xffffffffu, value, mask, width);
}
__device__ __forceinline__ int __any(int predicate) { return __any_sync(0xffffffffu, predicate); }
__device__ __forceinline__ int __all(int predicate) { return __all_sync(0xffffffffu, predicate); }
__device__ __forceinline__ unsigned __ballot(int predicate) {
  return __ballot_sync(0xffffffffu, predicate);
}
)cuda";

constexpr const char* kEmpty = "#pragma once\n";

// Host headers that kernel files carry along. What they declare is for host code, which is cut out
// before a source comes here.
constexpr const char* kHostHeaders[] = {
    "assert.h",    "cassert",  "chrono",   "cstddef",       "cstdio",           "cstdlib",
    "ctime",       "cuda.h",   "fstream",  "helper_cuda.h", "initializer_list", "iomanip",
    "ios",         "iostream", "iterator", "map",           "memory",           "new",
    "numeric",     "ostream",  "random",   "sstream",       "stdbool.h",        "stddef.h",
    "stdexcept",   "stdio.h",  "stdlib.h", "string",        "string.h",         "sys/time.h",
    "sys/types.h", "thread",   "time.h",   "unistd.h",      "vector",
};

// What the .h of that name includes, which NVRTC has of its own, in one piece: the toolkit's file
// does not follow it.
constexpr const char* kInlineHeaders[] = {"cuda_fp16.hpp", "cuda_bf16.hpp"};

NamedTexts make() {
  NamedTexts headers = {
      {kPreludeName, std::string(kPreludeHeaders) + kKeywords + kOldNames},
      {"stdint.h", kInteger},
      {"inttypes.h", kInteger},
      {"limits.h", kLimits},
      {"climits", kLimits},
      {"float.h", kFloat},
      {"cfloat", kFloat},
      {"math.h", kMath},
  };
  for (auto& [name, text] : standard_headers())
    headers.emplace_back(std::move(name), std::move(text));
  for (const char* name : kHostHeaders)
    headers.emplace_back(name, kEmpty);
  for (const char* name : kInlineHeaders)
    headers.emplace_back(name, kEmpty);
  headers.insert(headers.end(), pytorch_headers().begin(), pytorch_headers().end());
  return headers;
}

NamedTexts make_for_nvcc() {
  NamedTexts headers = {
      {kPreludeName, std::string(kNvccPreludeHeaders) + kOldNames},
      {"helper_cuda.h", kEmpty},  // of NVIDIA's samples
  };
  headers.insert(headers.end(), pytorch_headers().begin(), pytorch_headers().end());
  return headers;
}

}  // namespace

const NamedTexts& stub_headers() {
  static const NamedTexts kHeaders = make();
  return kHeaders;
}

const NamedTexts& nvcc_headers() {
  static const NamedTexts kHeaders = make_for_nvcc();
  return kHeaders;
}

}  // namespace regraph::compile_internal
