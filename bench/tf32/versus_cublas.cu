// A matrix product that regraph-search made, beside cuBLAS with TF32, in one process; `run` compiles it with
//
//     -DCANDIDATE="best.cu" -DEXTENT=4096 -DGRID_X=.. -DGRID_Y=.. -DBLOCK_X=.. -DBLOCK_Y=.. -DSHARED_BYTES=..
//
// Prints a line of JSON: medians of launches taken in turn, the errors of both against sums in double precision.
#include CANDIDATE

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

namespace {

constexpr int kExtent = EXTENT;
constexpr size_t kElements = static_cast<size_t>(kExtent) * kExtent;
constexpr int kLaunches = 60;
// Elements whose sums are taken in double precision.
constexpr int kSamples = 4096;

void require(bool good, const char* what) {
  if (good) return;
  std::fprintf(stderr, "versus_cublas: %s: %s\n", what, cudaGetErrorString(cudaGetLastError()));
  std::exit(1);
}

float* filled(const std::vector<float>& values) {
  float* data = nullptr;
  require(cudaMalloc(&data, kElements * sizeof(float)) == cudaSuccess, "cudaMalloc");
  require(cudaMemcpy(data, values.data(), kElements * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess, "cudaMemcpy");
  return data;
}

std::vector<float> random_values(unsigned seed) {
  std::vector<float> values(kElements);
  for (size_t i = 0; i < kElements; ++i) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    values[i] = static_cast<float>(bits >> 8) * (2.0f / 16777216.0f) - 1.0f;
  }
  return values;
}

// Root of the mean squared error of the samples, over that of the values themselves.
double error_of(const float* device, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> got(kElements);
  require(cudaMemcpy(got.data(), device, kElements * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy");
  double errors = 0.0;
  double values = 0.0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const size_t row = static_cast<size_t>(sample) * 2654435761u % kExtent;
    const size_t column = static_cast<size_t>(sample) * 40503u % kExtent;
    double sum = 0.0;
    for (int k = 0; k < kExtent; ++k) sum += static_cast<double>(a[row * kExtent + k]) * b[static_cast<size_t>(k) * kExtent + column];
    const double error = got[row * kExtent + column] - sum;
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
  const std::vector<float> a = random_values(1);
  const std::vector<float> b = random_values(2);
  const float* const device_a = filled(a);
  const float* const device_b = filled(b);
  float* const ours = filled(a);
  float* const theirs = filled(a);

  cublasHandle_t cublas = nullptr;
  require(cublasCreate(&cublas) == CUBLAS_STATUS_SUCCESS, "cublasCreate");
  require(cublasSetMathMode(cublas, CUBLAS_TF32_TENSOR_OP_MATH) == CUBLAS_STATUS_SUCCESS, "cublasSetMathMode");
  require(cudaFuncSetAttribute(product, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES) == cudaSuccess, "shared memory");
  const float one = 1.0f;
  const float zero = 0.0f;
  const std::function<void()> launches[2] = {
      [&] { product<<<dim3(GRID_X, GRID_Y), dim3(BLOCK_X, BLOCK_Y), SHARED_BYTES>>>(device_a, device_b, ours, kExtent); },
      // Rows first: the transposed product of the operands in the other order.
      [&] {
        require(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, kExtent, kExtent, kExtent, &one, device_b, kExtent, device_a, kExtent, &zero, theirs,
                            kExtent) == CUBLAS_STATUS_SUCCESS,
                "cublasSgemm");
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
