#include "source/device_names.h"

#include "kernel/pytorch_headers.h"

#include <algorithm>
#include <iterator>
#include <span>

namespace regraph::source {
namespace {

struct NameOfHeader {
  std::string_view name;  // (fits_name)
  std::string_view header;
};

constexpr NameOfHeader kNames[] = {
    {"__half*", "cuda_fp16.h"},
    {"__float2half*", "cuda_fp16.h"},
    {"__floats2half2*", "cuda_fp16.h"},
    {"__low2half*", "cuda_fp16.h"},
    {"__high2half*", "cuda_fp16.h"},
    {"__lows2half2", "cuda_fp16.h"},
    {"__highs2half2", "cuda_fp16.h"},
    {"CUDART_*_FP16", "cuda_fp16.h"},
    {"__nv_bfloat16*", "cuda_bf16.h"},
    {"nv_bfloat16*", "cuda_bf16.h"},
    {"__bfloat16*", "cuda_bf16.h"},
    {"__float2bfloat16*", "cuda_bf16.h"},
    {"__floats2bfloat162*", "cuda_bf16.h"},
    {"__low2bfloat16*", "cuda_bf16.h"},
    {"__high2bfloat16*", "cuda_bf16.h"},
    {"CUDART_*_BF16", "cuda_bf16.h"},
    {"__nv_fp8*", "cuda_fp8.h"},
    {"__nv_cvt_*_to_fp8*", "cuda_fp8.h"},
    {"__nv_cvt_fp8*", "cuda_fp8.h"},
    {"__nv_fp6*", "cuda_fp6.h"},
    {"__nv_fp4*", "cuda_fp4.h"},
    {"FLT_*", "cfloat"},
    {"DBL_*", "cfloat"},
    {"CUDART_*_F", "math_constants.h"},
    {"CUDART_INF", "math_constants.h"},
    {"CUDART_NAN", "math_constants.h"},
    {"CUDART_PI", "math_constants.h"},
    {"cuComplex", "cuComplex.h"},
    {"cuFloatComplex", "cuComplex.h"},
    {"cuDoubleComplex", "cuComplex.h"},
    {"make_cuComplex", "cuComplex.h"},
    {"make_cuFloatComplex", "cuComplex.h"},
    {"make_cuDoubleComplex", "cuComplex.h"},
    {"cuC*", "cuComplex.h"},
    {"cooperative_groups", "cooperative_groups.h"},
    {"nvcuda", "mma.h"},
    {"curand_*", "curand_kernel.h"},
    {"curandState*", "curand_kernel.h"},
    {"curandStatePhilox4_32_10_t", "curand_kernel.h"},
    {"__pipeline_*", "cuda_pipeline.h"},
    {"assert", "cassert"},
};

// Words that a file may use for something else, so that only the compiler can tell.
constexpr NameOfHeader kAmbiguousNames[] = {
    {"half", "cuda_fp16.h"},
    {"half2", "cuda_fp16.h"},
    {"__h*", "cuda_fp16.h"},
    {"wmma", "mma.h"},
    {"cg", "cooperative_groups.h"},
    {"INT_*", "climits"},
    {"UINT_*", "climits"},
    {"LLONG_*", "climits"},
    {"CHAR_*", "climits"},
    {"SHRT_*", "climits"},
    {"int*_t", "cstdint"},
    {"uint*_t", "cstdint"},
    {"M_*", "cmath"},
    {"memcpy", "cstring"},
    {"memset", "cstring"},
    {"reduce", "cooperative_groups/reduce.h"},
    {"memcpy_async", "cooperative_groups/memcpy_async.h"},
};

// Behind cuda::.
constexpr NameOfHeader kCudaNames[] = {
    {"atomic*", "cuda/atomic"},
    {"memory_order*", "cuda/atomic"},
    {"thread_scope*", "cuda/atomic"},
    {"barrier", "cuda/barrier"},
    {"memcpy_async", "cuda/barrier"},
    {"aligned_size_t", "cuda/barrier"},
    {"pipeline*", "cuda/pipeline"},
    {"make_pipeline", "cuda/pipeline"},
    {"device_memcpy_async_tx", "cuda/barrier"},
};

// Behind cooperative_groups::, as which cg is usual.
constexpr NameOfHeader kGroupNames[] = {
    {"reduce*", "cooperative_groups/reduce.h"},
    {"memcpy_async", "cooperative_groups/memcpy_async.h"},
    {"wait*", "cooperative_groups/memcpy_async.h"},
    {"inclusive_scan*", "cooperative_groups/scan.h"},
    {"exclusive_scan*", "cooperative_groups/scan.h"},
};

std::string_view header_in(std::span<const NameOfHeader> table, std::string_view name) {
  const auto found = std::ranges::find_if(
      table, [&](const NameOfHeader& entry) { return fits_name(name, entry.name); });
  return found == table.end() ? std::string_view() : found->header;
}

// Functions of half and half2 that begin with an h alone: hexp, h2sqrt.
bool is_half_function(std::string_view name) {
  constexpr std::string_view kFunctions[] = {"exp",   "exp2", "exp10", "log",   "log2", "log10",
                                             "sin",   "cos",  "sqrt",  "rsqrt", "rcp",  "ceil",
                                             "floor", "rint", "trunc", "tanh"};
  if (!name.starts_with("h")) return false;
  name.remove_prefix(name.starts_with("h2") ? 2 : 1);
  return std::ranges::find(kFunctions, name) != std::end(kFunctions);
}

}  // namespace

bool fits_name(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern;
  const std::string_view end = pattern.substr(star + 1);
  return name.starts_with(pattern.substr(0, star)) && name.ends_with(end) &&
         name.size() + 1 >= pattern.size();
}

std::string_view header_of_device_name(std::string_view name, std::string_view qualifier,
                                       bool is_undefined) {
  const bool is_of_pytorch = qualifier == "at" || qualifier == "c10" || qualifier == "torch" ||
                             qualifier == "cuda" || qualifier == "memory";
  if (const auto header = pytorch_header_of(name, is_of_pytorch || is_undefined); !header.empty())
    return header;
  if (qualifier == "cuda") {
    if (const auto header = header_in(kCudaNames, name); !header.empty()) return header;
  }
  if (qualifier == "cg" || qualifier == "cooperative_groups") {
    if (const auto header = header_in(kGroupNames, name); !header.empty()) return header;
  }
  if (qualifier.empty() || is_undefined) {
    if (const auto header = header_in(kNames, name); !header.empty()) return header;
  }
  if (!is_undefined) return {};
  return is_half_function(name) ? "cuda_fp16.h" : header_in(kAmbiguousNames, name);
}

}  // namespace regraph::source
