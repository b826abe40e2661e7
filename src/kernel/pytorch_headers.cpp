#include "kernel/pytorch_headers.h"

#include <algorithm>
#include <cstddef>
#include <span>

namespace regraph {
namespace {

constexpr std::string_view kMacros = R"cuda(#pragma once
#include <assert.h>
#define C10_HOST __host__
#define C10_DEVICE __device__
#define C10_HOST_DEVICE __host__ __device__
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_NOINLINE __attribute__((noinline))
#define C10_RESTRICT __restrict__
#define C10_UNUSED __attribute__((unused))
#define C10_NODISCARD [[nodiscard]]
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#define C10_API
#define C10_EXPORT
#define TORCH_API
#define TORCH_CUDA_CU_API
#define TORCH_CUDA_CPP_API
#define C10_WARP_SIZE 32
#define CUDA_MAX_THREADS_PER_BLOCK 1024
#define CUDA_THREADS_PER_BLOCK_FALLBACK 256
#if __CUDA_ARCH__ == 750
#define CUDA_MAX_THREADS_PER_SM 1024
#elif __CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900 || __CUDA_ARCH__ >= 1200
#define CUDA_MAX_THREADS_PER_SM 1536
#else
#define CUDA_MAX_THREADS_PER_SM 2048
#endif
#define C10_MAX_THREADS_PER_BLOCK(threads) \
  (((threads) <= CUDA_MAX_THREADS_PER_BLOCK) ? (threads) : CUDA_THREADS_PER_BLOCK_FALLBACK)
#define C10_MIN_BLOCKS_PER_SM(threads, blocks)     \
  ((((threads) * (blocks) <= CUDA_MAX_THREADS_PER_SM) \
        ? (blocks)                                 \
        : ((CUDA_MAX_THREADS_PER_SM + (threads) - 1) / (threads))))
#define C10_LAUNCH_BOUNDS_0 __launch_bounds__(256, 4)
#define C10_LAUNCH_BOUNDS_1(threads) __launch_bounds__((C10_MAX_THREADS_PER_BLOCK((threads))))
#define C10_LAUNCH_BOUNDS_2(threads, blocks)                           \
  __launch_bounds__((C10_MAX_THREADS_PER_BLOCK((threads))), \
                    (C10_MIN_BLOCKS_PER_SM((threads), (blocks))))
#define C10_LAUNCH_BOUNDS C10_LAUNCH_BOUNDS_1
#define CUDA_KERNEL_ASSERT(condition) \
  do {                                \
    if (!(condition)) __trap();       \
  } while (0)
#define CUDA_KERNEL_ASSERT_MSG(condition, message) CUDA_KERNEL_ASSERT(condition)
#define CUDA_KERNEL_ASSERT_PRINTF(condition, ...) CUDA_KERNEL_ASSERT(condition)
namespace c10 {}
namespace at {
using namespace c10;
}
namespace torch {
using namespace at;
}
)cuda";

// The text of both 16-bit types; words of capitals stand for what tells them apart (narrow_float).
constexpr std::string_view kNarrowFloat = R"cuda(#pragma once
#include <c10/macros/Macros.h>
#include <TOOLKIT_HEADER>
#include <limits>
#include <stdint.h>
namespace c10 {
struct alignas(2) NAME {
  unsigned short x;
  struct from_bits_t {};
  __host__ __device__ static constexpr from_bits_t from_bits() { return from_bits_t(); }
  NAME() = default;
  __host__ __device__ constexpr NAME(unsigned short bits, from_bits_t) : x(bits) {}
  __host__ __device__ __forceinline__ NAME(float value) : NAME(FROM_FLOAT(value)) {}
  __host__ __device__ __forceinline__ NAME(const TOOLKIT_TYPE& value)
      : x(*reinterpret_cast<const unsigned short*>(&value)) {}
  __host__ __device__ __forceinline__ operator float() const {
    return TO_FLOAT(*reinterpret_cast<const TOOLKIT_TYPE*>(&x));
  }
  __host__ __device__ __forceinline__ CONVERTS operator TOOLKIT_TYPE() const {
    return *reinterpret_cast<const TOOLKIT_TYPE*>(&x);
  }
};
// With itself it stays what it is, float and double make it such, integers become what it is.
#define REGRAPH_WIDER(op, wider)                                                          \
  __host__ __device__ __forceinline__ wider operator op(NAME a, wider b) {                \
    return static_cast<wider>(static_cast<float>(a)) op b;                                \
  }                                                                                       \
  __host__ __device__ __forceinline__ wider operator op(wider a, NAME b) {                \
    return a op static_cast<wider>(static_cast<float>(b));                                \
  }
#define REGRAPH_INTEGER(op, integer)                                                      \
  __host__ __device__ __forceinline__ NAME operator op(NAME a, integer b) {               \
    return a op NAME(static_cast<float>(b));                                              \
  }                                                                                       \
  __host__ __device__ __forceinline__ NAME operator op(integer a, NAME b) {               \
    return NAME(static_cast<float>(a)) op b;                                              \
  }
#define REGRAPH_OPERATOR(op)                                                              \
  __host__ __device__ __forceinline__ NAME operator op(const NAME& a, const NAME& b) {    \
    return NAME(static_cast<float>(a) op static_cast<float>(b));                          \
  }                                                                                       \
  __host__ __device__ __forceinline__ NAME& operator op##=(NAME& a, const NAME& b) {      \
    a = a op b;                                                                           \
    return a;                                                                             \
  }                                                                                       \
  __host__ __device__ __forceinline__ float& operator op##=(float& a, const NAME& b) {    \
    return a op##= static_cast<float>(b);                                                 \
  }                                                                                       \
  REGRAPH_WIDER(op, float)                                                                \
  REGRAPH_WIDER(op, double)                                                               \
  REGRAPH_INTEGER(op, int)                                                                \
  REGRAPH_INTEGER(op, int64_t)
REGRAPH_OPERATOR(+)
REGRAPH_OPERATOR(-)
REGRAPH_OPERATOR(*)
REGRAPH_OPERATOR(/)
#undef REGRAPH_OPERATOR
#undef REGRAPH_INTEGER
#undef REGRAPH_WIDER
__host__ __device__ __forceinline__ NAME operator-(const NAME& a) {
  return NAME(-static_cast<float>(a));
}
// Else the toolkit's type and float were as good.
#define REGRAPH_COMPARISON(op)                                                            \
  __host__ __device__ __forceinline__ bool operator op(const NAME& a, const NAME& b) {    \
    return static_cast<float>(a) op static_cast<float>(b);                                \
  }
REGRAPH_COMPARISON(<)
REGRAPH_COMPARISON(>)
REGRAPH_COMPARISON(<=)
REGRAPH_COMPARISON(>=)
REGRAPH_COMPARISON(==)
REGRAPH_COMPARISON(!=)
#undef REGRAPH_COMPARISON
}  // namespace c10
__device__ __forceinline__ c10::NAME __ldg(const c10::NAME* place) {
  return c10::NAME(__ldg(reinterpret_cast<const unsigned short*>(place)), c10::NAME::from_bits());
}
namespace std {
template <>
class numeric_limits<c10::NAME> {
 public:
  static constexpr bool is_specialized = true;
  static constexpr bool is_signed = true;
  static constexpr bool is_integer = false;
  static constexpr bool is_exact = false;
  static constexpr bool has_infinity = true;
  static constexpr bool has_quiet_NaN = true;
  static constexpr int digits = DIGITS;
#define REGRAPH_LIMIT(which, bits)                               \
  __host__ __device__ static constexpr c10::NAME which() {       \
    return c10::NAME(bits, c10::NAME::from_bits());              \
  }
  REGRAPH_LIMIT(lowest, LOWEST)
  REGRAPH_LIMIT(max, LARGEST)
  REGRAPH_LIMIT(min, SMALLEST)
  REGRAPH_LIMIT(epsilon, EPSILON)
  REGRAPH_LIMIT(infinity, INFINITE)
  REGRAPH_LIMIT(quiet_NaN, NO_NUMBER)
#undef REGRAPH_LIMIT
};
}  // namespace std
)cuda";

struct Word {
  std::string_view word;
  std::string_view meaning;
};

constexpr Word kHalfWords[] = {{"NAME", "Half"},
                               {"TOOLKIT_HEADER", "cuda_fp16.h"},
                               {"TOOLKIT_TYPE", "__half"},
                               {"FROM_FLOAT", "__float2half"},
                               {"TO_FLOAT", "__half2float"},
                               {"CONVERTS", ""},
                               {"DIGITS", "11"},
                               {"LOWEST", "0xfbff"},
                               {"LARGEST", "0x7bff"},
                               {"SMALLEST", "0x0400"},
                               {"EPSILON", "0x1400"},
                               {"INFINITE", "0x7c00"},
                               {"NO_NUMBER", "0x7e00"}};
constexpr Word kBFloat16Words[] = {{"NAME", "BFloat16"},
                                   {"TOOLKIT_HEADER", "cuda_bf16.h"},
                                   {"TOOLKIT_TYPE", "__nv_bfloat16"},
                                   {"FROM_FLOAT", "__float2bfloat16"},
                                   {"TO_FLOAT", "__bfloat162float"},
                                   {"CONVERTS", "explicit"},  // to the toolkit's
                                   {"DIGITS", "8"},
                                   {"LOWEST", "0xff7f"},
                                   {"LARGEST", "0x7f7f"},
                                   {"SMALLEST", "0x0080"},
                                   {"EPSILON", "0x3c00"},
                                   {"INFINITE", "0x7f80"},
                                   {"NO_NUMBER", "0x7fc0"}};

std::string narrow_float(std::span<const Word> words) {
  std::string text(kNarrowFloat);
  for (const auto& [word, meaning] : words) {
    for (std::size_t at = text.find(word); at != std::string::npos;
         at = text.find(word, at + meaning.size()))
      text.replace(at, word.size(), meaning);
  }
  return text;
}

constexpr std::string_view kMathType = R"cuda(#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
namespace at {
template <typename T>
struct OpMathType {
  using type = T;
};
template <>
struct OpMathType<c10::Half> {
  using type = float;
};
template <>
struct OpMathType<c10::BFloat16> {
  using type = float;
};
template <typename T>
using opmath_type = typename OpMathType<T>::type;
}  // namespace at
)cuda";

constexpr std::string_view kAccumulateType = R"cuda(#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
namespace at {
// Of the GPU; the host adds floats up as doubles.
template <typename T, bool is_cuda>
struct AccumulateType {};
#define REGRAPH_SUMS(T, device, host)  \
  template <>                          \
  struct AccumulateType<T, true> {     \
    using type = device;               \
  };                                   \
  template <>                          \
  struct AccumulateType<T, false> {    \
    using type = host;                 \
  };
REGRAPH_SUMS(c10::Half, float, float)
REGRAPH_SUMS(c10::BFloat16, float, float)
REGRAPH_SUMS(float, float, double)
REGRAPH_SUMS(double, double, double)
REGRAPH_SUMS(bool, bool, bool)
REGRAPH_SUMS(signed char, int64_t, int64_t)
REGRAPH_SUMS(unsigned char, int64_t, int64_t)
REGRAPH_SUMS(char, int64_t, int64_t)
REGRAPH_SUMS(short, int64_t, int64_t)
REGRAPH_SUMS(int, int64_t, int64_t)
REGRAPH_SUMS(int64_t, int64_t, int64_t)
#undef REGRAPH_SUMS
template <typename T, bool is_cuda>
using acc_type = typename AccumulateType<T, is_cuda>::type;
}  // namespace at
)cuda";

constexpr std::string_view kCeilDiv = R"cuda(#pragma once
#include <c10/macros/Macros.h>
namespace at {
template <typename T>
__host__ __device__ __forceinline__ T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}
template <typename T>
__host__ __device__ __forceinline__ T round_up(T a, T b) {
  return ceil_div(a, b) * b;
}
}  // namespace at
)cuda";

constexpr std::string_view kKernelUtils = R"cuda(#pragma once
#include <c10/macros/Macros.h>
#include <stdint.h>
#define CUDA_KERNEL_LOOP_TYPE(i, n, index_type)                                     \
  int64_t i##_in_all_blocks = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; \
  for (index_type i = i##_in_all_blocks; i##_in_all_blocks < (n);                   \
       i##_in_all_blocks += blockDim.x * gridDim.x, i = i##_in_all_blocks)
#define CUDA_KERNEL_LOOP(i, n) CUDA_KERNEL_LOOP_TYPE(i, n, int)
)cuda";

constexpr std::string_view kDeviceUtils = R"cuda(#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
#define REGRAPH_SHUFFLE(NAME, FUNCTION, WHICH)                                        \
  template <typename T>                                                              \
  __device__ __forceinline__ T NAME(T value, WHICH, int width = warpSize,            \
                                    unsigned int mask = 0xffffffff) {                \
    return FUNCTION(mask, value, which, width);                                      \
  }                                                                                  \
  template <>                                                                        \
  __device__ __forceinline__ c10::Half NAME<c10::Half>(c10::Half value, WHICH, int width,  \
                                                       unsigned int mask) {          \
    return c10::Half(static_cast<unsigned short>(FUNCTION(mask, static_cast<unsigned>(value.x), which, width)), \
                     c10::Half::from_bits());                                        \
  }                                                                                  \
  template <>                                                                        \
  __device__ __forceinline__ c10::BFloat16 NAME<c10::BFloat16>(c10::BFloat16 value, WHICH, int width, \
                                                               unsigned int mask) {  \
    return c10::BFloat16(static_cast<unsigned short>(FUNCTION(mask, static_cast<unsigned>(value.x), which, width)), \
                         c10::BFloat16::from_bits());                                \
  }
REGRAPH_SHUFFLE(WARP_SHFL, __shfl_sync, int which)
REGRAPH_SHUFFLE(WARP_SHFL_XOR, __shfl_xor_sync, int which)
REGRAPH_SHUFFLE(WARP_SHFL_UP, __shfl_up_sync, unsigned int which)
REGRAPH_SHUFFLE(WARP_SHFL_DOWN, __shfl_down_sync, unsigned int which)
#undef REGRAPH_SHUFFLE
__device__ __forceinline__ unsigned int WARP_BALLOT(int predicate, unsigned int mask = 0xffffffff) {
  return __ballot_sync(mask, predicate);
}
__device__ __forceinline__ unsigned int ACTIVE_MASK() { return __activemask(); }
__device__ __forceinline__ void WARP_SYNC(unsigned mask = 0xffffffff) { __syncwarp(mask); }
)cuda";

constexpr std::string_view kNumericUtils = R"cuda(#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
namespace at {
template <typename T>
__host__ __device__ __forceinline__ bool _isnan(T value) {
  return value != value;
}
template <>
__host__ __device__ __forceinline__ bool _isnan(c10::Half value) {
  return static_cast<float>(value) != static_cast<float>(value);
}
template <>
__host__ __device__ __forceinline__ bool _isnan(c10::BFloat16 value) {
  return static_cast<float>(value) != static_cast<float>(value);
}
__host__ __device__ __forceinline__ bool _isinf(float value) {
  return fabsf(value) > 3.402823466e+38f;
}
}  // namespace at
)cuda";

constexpr std::string_view kAtomic = R"cuda(#pragma once
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>
template <typename T>
__device__ __forceinline__ T gpuAtomicAdd(T* place, T value) {
  return atomicAdd(place, value);
}
__device__ __forceinline__ int64_t gpuAtomicAdd(int64_t* place, int64_t value) {
  return static_cast<int64_t>(atomicAdd(reinterpret_cast<unsigned long long*>(place),
                                        static_cast<unsigned long long>(value)));
}
__device__ __forceinline__ c10::Half gpuAtomicAdd(c10::Half* place, c10::Half value) {
  return atomicAdd(reinterpret_cast<__half*>(place), static_cast<__half>(value));
}
__device__ __forceinline__ c10::BFloat16 gpuAtomicAdd(c10::BFloat16* place, c10::BFloat16 value) {
  return atomicAdd(reinterpret_cast<__nv_bfloat16*>(place), static_cast<__nv_bfloat16>(value));
}
template <typename T>
__device__ __forceinline__ void gpuAtomicAddNoReturn(T* place, T value) {
  gpuAtomicAdd(place, value);
}
)cuda";

constexpr std::string_view kMathCompat = R"cuda(#pragma once
#include <c10/macros/Macros.h>
namespace c10 {
namespace cuda {
namespace compat {
#define REGRAPH_OF_ONE(NAME)                                                            \
  __device__ __forceinline__ float NAME(float x) { return ::NAME##f(x); }               \
  __device__ __forceinline__ double NAME(double x) { return ::NAME(x); }
REGRAPH_OF_ONE(exp)
REGRAPH_OF_ONE(ceil)
REGRAPH_OF_ONE(floor)
REGRAPH_OF_ONE(log)
REGRAPH_OF_ONE(log1p)
REGRAPH_OF_ONE(rsqrt)
REGRAPH_OF_ONE(sqrt)
REGRAPH_OF_ONE(sin)
REGRAPH_OF_ONE(cos)
REGRAPH_OF_ONE(tan)
REGRAPH_OF_ONE(tanh)
REGRAPH_OF_ONE(erf)
REGRAPH_OF_ONE(normcdf)
#undef REGRAPH_OF_ONE
__device__ __forceinline__ float abs(float x) { return ::fabsf(x); }
__device__ __forceinline__ double abs(double x) { return ::fabs(x); }
__device__ __forceinline__ float max(float x, float y) { return ::fmaxf(x, y); }
__device__ __forceinline__ double max(double x, double y) { return ::fmax(x, y); }
__device__ __forceinline__ float min(float x, float y) { return ::fminf(x, y); }
__device__ __forceinline__ double min(double x, double y) { return ::fmin(x, y); }
__device__ __forceinline__ float pow(float x, float y) { return ::powf(x, y); }
__device__ __forceinline__ double pow(double x, double y) { return ::pow(x, y); }
__device__ __forceinline__ float copysign(float x, float y) { return ::copysignf(x, y); }
__device__ __forceinline__ double copysign(double x, double y) { return ::copysign(x, y); }
}  // namespace compat
}  // namespace cuda
}  // namespace c10
)cuda";

constexpr std::string_view kMemoryAccess = R"cuda(#pragma once
#include <c10/macros/Macros.h>
namespace at {
namespace native {
namespace memory {
template <typename T, int size>
struct alignas(sizeof(T) * size) aligned_vector {
  T val[size];
};
}  // namespace memory
}  // namespace native
}  // namespace at
)cuda";

// A view of a tensor: its data, the extents and the strides of its dimensions, in this order.
constexpr std::string_view kTensorAccessor = R"cuda(#pragma once
#include <c10/macros/Macros.h>
#include <stdint.h>
namespace at {
template <typename T>
struct DefaultPtrTraits {
  using PtrType = T*;
};
template <typename T>
struct RestrictPtrTraits {
  using PtrType = T* __restrict__;
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
class TensorAccessor {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;
  __host__ __device__ TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __host__ __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
    return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }

 private:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};
template <typename T, template <typename U> class PtrTraits, typename index_t>
class TensorAccessor<T, 1, PtrTraits, index_t> {
 public:
  using PtrType = typename PtrTraits<T>::PtrType;
  __host__ __device__ TensorAccessor(PtrType data, const index_t* sizes, const index_t* strides)
      : data_(data), sizes_(sizes), strides_(strides) {}
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __host__ __device__ T& operator[](index_t i) const { return data_[strides_[0] * i]; }

 private:
  PtrType data_;
  const index_t* sizes_;
  const index_t* strides_;
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
struct GenericPackedTensorAccessor {
  using PtrType = typename PtrTraits<T>::PtrType;
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __device__ TensorAccessor<T, N - 1, PtrTraits, index_t> operator[](index_t i) const {
    return TensorAccessor<T, N - 1, PtrTraits, index_t>(data_ + strides_[0] * i, sizes_ + 1, strides_ + 1);
  }
  PtrType data_;
  index_t sizes_[N];
  index_t strides_[N];
};
template <typename T, template <typename U> class PtrTraits, typename index_t>
struct GenericPackedTensorAccessor<T, 1, PtrTraits, index_t> {
  using PtrType = typename PtrTraits<T>::PtrType;
  __host__ __device__ PtrType data() const { return data_; }
  __host__ __device__ index_t size(index_t i) const { return sizes_[i]; }
  __host__ __device__ index_t stride(index_t i) const { return strides_[i]; }
  __device__ T& operator[](index_t i) const { return data_[strides_[0] * i]; }
  PtrType data_;
  index_t sizes_[1];
  index_t strides_[1];
};
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor32 = GenericPackedTensorAccessor<T, N, PtrTraits, int32_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits>
using PackedTensorAccessor64 = GenericPackedTensorAccessor<T, N, PtrTraits, int64_t>;
template <typename T, size_t N, template <typename U> class PtrTraits = DefaultPtrTraits, typename index_t = int64_t>
using PackedTensorAccessor = GenericPackedTensorAccessor<T, N, PtrTraits, index_t>;
}  // namespace at
)cuda";

constexpr std::string_view kMacrosName = "c10/macros/Macros.h";
constexpr std::string_view kHalfName = "c10/util/Half.h";
constexpr std::string_view kBFloat16Name = "c10/util/BFloat16.h";
constexpr std::string_view kMathTypeName = "ATen/OpMathType.h";
constexpr std::string_view kAccumulateTypeName = "ATen/AccumulateType.h";
constexpr std::string_view kCeilDivName = "ATen/ceil_div.h";
constexpr std::string_view kKernelUtilsName = "ATen/cuda/detail/KernelUtils.h";
constexpr std::string_view kDeviceUtilsName = "ATen/cuda/DeviceUtils.cuh";
constexpr std::string_view kNumericUtilsName = "ATen/NumericUtils.h";
constexpr std::string_view kAtomicName = "ATen/cuda/Atomic.cuh";
constexpr std::string_view kMathCompatName = "c10/cuda/CUDAMathCompat.h";
constexpr std::string_view kMemoryAccessName = "ATen/native/cuda/MemoryAccess.cuh";
constexpr std::string_view kTensorAccessorName = "ATen/core/TensorAccessor.h";

struct DeclaredName {
  std::string_view name;
  std::string_view header;
};

// Behind at::, c10:: or torch::.
constexpr DeclaredName kQualified[] = {
    {"Half", kHalfName},
    {"BFloat16", kBFloat16Name},
    {"opmath_type", kMathTypeName},
    {"OpMathType", kMathTypeName},
    {"acc_type", kAccumulateTypeName},
    {"AccumulateType", kAccumulateTypeName},
    {"ceil_div", kCeilDivName},
    {"round_up", kCeilDivName},
    {"_isnan", kNumericUtilsName},
    {"_isinf", kNumericUtilsName},
    {"PackedTensorAccessor32", kTensorAccessorName},
    {"PackedTensorAccessor64", kTensorAccessorName},
    {"PackedTensorAccessor", kTensorAccessorName},
    {"GenericPackedTensorAccessor", kTensorAccessorName},
    {"TensorAccessor", kTensorAccessorName},
    {"RestrictPtrTraits", kTensorAccessorName},
    {"DefaultPtrTraits", kTensorAccessorName},
};
// In no namespace, or named so that they are nobody else's.
constexpr DeclaredName kAnywhere[] = {
    {"aligned_vector", kMemoryAccessName},
    {"gpuAtomicAdd", kAtomicName},
    {"gpuAtomicAddNoReturn", kAtomicName},
    {"CUDA_KERNEL_LOOP", kKernelUtilsName},
    {"CUDA_KERNEL_LOOP_TYPE", kKernelUtilsName},
    {"WARP_SHFL", kDeviceUtilsName},
    {"WARP_SHFL_XOR", kDeviceUtilsName},
    {"WARP_SHFL_UP", kDeviceUtilsName},
    {"WARP_SHFL_DOWN", kDeviceUtilsName},
    {"WARP_BALLOT", kDeviceUtilsName},
    {"ACTIVE_MASK", kDeviceUtilsName},
    {"WARP_SYNC", kDeviceUtilsName},
    {"CUDA_KERNEL_ASSERT", kMacrosName},
    {"CUDA_KERNEL_ASSERT_MSG", kMacrosName},
    {"CUDA_KERNEL_ASSERT_PRINTF", kMacrosName},
    {"CUDA_MAX_THREADS_PER_BLOCK", kMacrosName},
    {"TORCH_API", kMacrosName},
    {"TORCH_CUDA_CU_API", kMacrosName},
    {"TORCH_CUDA_CPP_API", kMacrosName},
};

}  // namespace

const std::vector<std::pair<std::string, std::string>>& pytorch_headers() {
  const auto text = [](std::string_view name, std::string_view content) {
    return std::pair(std::string(name), std::string(content));
  };
  static const std::vector<std::pair<std::string, std::string>> kHeaders = {
      text(kMacrosName, kMacros),
      text(kHalfName, narrow_float(kHalfWords)),
      text(kBFloat16Name, narrow_float(kBFloat16Words)),
      text(kMathTypeName, kMathType),
      text(kAccumulateTypeName, kAccumulateType),
      text(kCeilDivName, kCeilDiv),
      text(kKernelUtilsName, kKernelUtils),
      text(kDeviceUtilsName, kDeviceUtils),
      text(kNumericUtilsName, kNumericUtils),
      text(kAtomicName, kAtomic),
      text(kMathCompatName, kMathCompat),
      text(kMemoryAccessName, kMemoryAccess),
      text(kTensorAccessorName, kTensorAccessor),
  };
  return kHeaders;
}

bool is_pytorch_header(std::string_view name) {
  return std::ranges::any_of(pytorch_headers(),
                             [&](const auto& header) { return header.first == name; });
}

bool is_header_of_pytorch(std::string_view name) {
  return name.starts_with("torch/") || name.starts_with("ATen/") || name.starts_with("c10/");
}

std::string_view pytorch_header_of(std::string_view name, bool qualified) {
  const auto of = [&](const auto& table) {
    const auto* const found = std::ranges::find(table, name, &DeclaredName::name);
    return found == std::end(table) ? std::string_view() : found->header;
  };
  if (name == "compat" && qualified) return kMathCompatName;
  if (qualified && !of(kQualified).empty()) return of(kQualified);
  if (name.starts_with("C10_")) return kMacrosName;
  return of(kAnywhere);
}

}  // namespace regraph
