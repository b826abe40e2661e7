// A matrix product that regraph-search made, beside cuBLAS with the same types, in one process; `run` compiles it with
//
//     -DCANDIDATE="best.cu" -DELEMENT=float|__half|__nv_bfloat16|int8_t -DROWS=.. -DCOLUMNS=.. -DDEPTH=.. -DGRID_X=.. -DGRID_Y=.. -DBLOCK_X=..
//     -DBLOCK_Y=.. -DSHARED_BYTES=.. [-DALONG_DEPTH] [-DFP32] [-DSKINNY -DCOPIES=..]
//
// ALONG_DEPTH: neighbours of b differ in k. FP32: cuBLAS takes float as it is, not as tf32. SKINNY: the kernel takes all three extents. COPIES of b are
// multiplied in turn, so that none is in the L2 cache. Sums of int8_t are int.
// Prints a line of JSON: medians of launches taken in turn, the errors of both against sums in double precision.
#include CANDIDATE

#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <type_traits>
#include <vector>

namespace {

using Element = ELEMENT;
constexpr bool kBytes = std::is_same_v<Element, int8_t>;
using Result = std::conditional_t<kBytes, int, Element>;

#ifndef COPIES
#define COPIES 1
#endif
#ifdef SKINNY
#define SIZES ROWS, COLUMNS, DEPTH
#else
#define SIZES DEPTH
#endif
#ifdef ALONG_DEPTH
constexpr bool kAlongDepth = true;
#else
constexpr bool kAlongDepth = false;
#endif
#ifdef FP32
constexpr cublasComputeType_t kFloats = CUBLAS_COMPUTE_32F;
#else
constexpr cublasComputeType_t kFloats = CUBLAS_COMPUTE_32F_FAST_TF32;
#endif

constexpr size_t kRows = ROWS;
constexpr size_t kColumns = COLUMNS;
constexpr size_t kDepth = DEPTH;
constexpr int kLaunches = 60;
// Elements whose sums are taken in double precision.
constexpr int kSamples = 4096;
constexpr cudaDataType kType = kBytes                            ? CUDA_R_8I
                               : std::is_same_v<Element, float>  ? CUDA_R_32F
                               : std::is_same_v<Element, __half> ? CUDA_R_16F
                                                                 : CUDA_R_16BF;
constexpr cudaDataType kResultType = kBytes ? CUDA_R_32I : kType;
constexpr cublasComputeType_t kCompute = kBytes ? CUBLAS_COMPUTE_32I : std::is_same_v<Element, float> ? kFloats : CUBLAS_COMPUTE_32F;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "versus_cublas: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

template <typename T>
T* filled(const std::vector<T>& values) {
  T* data = nullptr;
  require(cudaMalloc(&data, values.size() * sizeof(T)) == cudaSuccess, "cudaMalloc");
  require(cudaMemcpy(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  return data;
}

// From -1 to 1; bytes from -127 to 127.
std::vector<Element> random_values(size_t count, unsigned seed) {
  std::vector<Element> values(count);
  for (size_t i = 0; i < count; ++i) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    values[i] = Element((static_cast<float>(bits >> 8) * (2.0f / 16777216.0f) - 1.0f) * (kBytes ? 127.0f : 1.0f));
  }
  return values;
}

// Root of the mean squared error of the samples, over that of the values themselves.
double error_of(const Result* device, const std::vector<Element>& a, const std::vector<Element>& b) {
  std::vector<Result> got(kRows * kColumns);
  require(cudaMemcpy(got.data(), device, got.size() * sizeof(Result), cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
  double errors = 0.0;
  double values = 0.0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const size_t row = static_cast<size_t>(sample) * 2654435761u % kRows;
    const size_t column = static_cast<size_t>(sample) * 40503u % kColumns;
    double sum = 0.0;
    for (size_t k = 0; k < kDepth; ++k)
      sum += static_cast<double>(float(a[row * kDepth + k])) * float(b[kAlongDepth ? column * kDepth + k : k * kColumns + column]);
    const double error = float(got[row * kColumns + column]) - sum;
    errors += error * error;
    values += sum * sum;
  }
  return std::sqrt(errors / values);
}

float median(std::vector<float> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

int main() {
  const std::vector<Element> a = random_values(kRows * kDepth, 1);
  const std::vector<Element> b = random_values(kDepth * kColumns, 2);
  const Element* const device_a = filled(a);
  std::vector<const Element*> copies;
  for (int i = 0; i < COPIES; ++i) copies.push_back(filled(b));
  Result* const ours = filled(std::vector<Result>(kRows * kColumns, Result(7)));
  Result* const theirs = filled(std::vector<Result>(kRows * kColumns, Result(7)));
  size_t launched = 0;
  const auto next_b = [&] { return copies[launched++ % copies.size()]; };

  cublasHandle_t cublas = nullptr;
  require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  require(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES) == cudaSuccess, "shared memory");
  using Scale = std::conditional_t<kBytes, int, float>;
  const Scale one = 1;
  const Scale zero = 0;
  const std::function<void()> launches[2] = {
      [&] { product<<<dim3(GRID_X, GRID_Y), dim3(BLOCK_X, BLOCK_Y), SHARED_BYTES>>>(device_a, next_b(), ours, SIZES); },
      // Rows first: the transposed product of the operands in the other order.
      [&] {
        require(cublasGemmEx(cublas, kAlongDepth ? CUBLAS_OP_T : CUBLAS_OP_N, CUBLAS_OP_N, kColumns, kRows, kDepth, &one, next_b(), kType,
                             kAlongDepth ? kDepth : kColumns, device_a, kType, kDepth, &zero, theirs, kResultType, kColumns, kCompute,
                             CUBLAS_GEMM_DEFAULT) == CUBLAS_STATUS_SUCCESS,
                "cublasGemmEx");
      }};

  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  require(cudaEventCreate(&begin) == cudaSuccess && cudaEventCreate(&end) == cudaSuccess, "cudaEventCreate");
  std::vector<float> microseconds[2];
  for (int number = -5; number < kLaunches; ++number) {
    for (int which = 0; which < 2; ++which) {
      cudaEventRecord(begin);
      launches[which]();
      cudaEventRecord(end);
      require(cudaEventSynchronize(end) == cudaSuccess && cudaGetLastError() == cudaSuccess, which == 0 ? "the candidate" : "cuBLAS");
      float milliseconds = 0.0f;
      cudaEventElapsedTime(&milliseconds, begin, end);
      if (number >= 0) microseconds[which].push_back(milliseconds * 1e3f);
    }
  }
  cudaDeviceProp properties{};
  require(cudaGetDeviceProperties(&properties, 0) == cudaSuccess, "cudaGetDeviceProperties");
  std::printf("{\"device\": \"%s\", \"microseconds\": %.1f, \"cublas_microseconds\": %.1f, \"share\": %.3f, \"error\": %.3g, \"cublas_error\": %.3g}\n",
              properties.name, median(microseconds[0]), median(microseconds[1]), median(microseconds[1]) / median(microseconds[0]),
              error_of(ours, a, b), error_of(theirs, a, b));
  return 0;
}
