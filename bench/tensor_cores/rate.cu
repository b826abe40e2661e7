// How fast a GPU does mma.sync.m16n8k8 with TF32 from registers alone: what no product made of it can exceed.
//
//     nvcc -O3 -std=c++17 -arch=sm_90 bench/tensor_cores/rate.cu -o rate && ./rate
//
// A block a multiprocessor of 4 and of 8 warps, 32 fragments of sums each, as tensor_core's warps have. Prints the fastest of 20 launches.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>

namespace {

constexpr int kSteps = 2048;
constexpr int kRows = 4;
constexpr int kColumns = 8;
constexpr int kLaunches = 20;
constexpr double kProducts = 16.0 * 8.0 * 8.0;  // of one instruction

template <int kWarps>
__global__ void __launch_bounds__(kWarps * 32, 1) rate(float* out, unsigned bits) {
  float sums[kRows][kColumns][4] = {};
  unsigned rows[kRows][4];
  unsigned columns[kColumns][2];
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    rows[i / 4][i % 4] = bits + i + threadIdx.x;
    columns[i / 2][i % 2] = bits * 3 + i;
  }
  for (int step = 0; step < kSteps; ++step) {
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
#pragma unroll
      for (int j = 0; j < kColumns; ++j) {
        float* const sum = sums[i][j];
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
            : "r"(rows[i][0]), "r"(rows[i][1]), "r"(rows[i][2]), "r"(rows[i][3]), "r"(columns[j][0]), "r"(columns[j][1]));
      }
    }
  }
  float total = 0.0f;
#pragma unroll
  for (int i = 0; i < kRows * kColumns * 4; ++i) total += sums[i / (kColumns * 4)][i / 4 % kColumns][i % 4];
  out[blockIdx.x * blockDim.x + threadIdx.x] = total;
}

template <int kWarps>
bool measure(float* out, int blocks) {
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  if (cudaEventCreate(&begin) != cudaSuccess || cudaEventCreate(&end) != cudaSuccess) return false;
  float best = 1e9f;
  for (int launch = 0; launch < kLaunches; ++launch) {
    cudaEventRecord(begin);
    rate<kWarps><<<blocks, kWarps * 32>>>(out, 0x3f8a3c71U);
    cudaEventRecord(end);
    if (cudaEventSynchronize(end) != cudaSuccess) return false;
    float milliseconds = 0.0f;
    cudaEventElapsedTime(&milliseconds, begin, end);
    best = std::min(best, milliseconds);
  }
  const double operations = 2.0 * blocks * kWarps * kSteps * kRows * kColumns * kProducts;
  std::printf("%d warps a multiprocessor: %.1f TFLOP/s\n", kWarps, operations / best / 1e9);
  return true;
}

}  // namespace

int main() {
  cudaDeviceProp properties{};
  float* out = nullptr;
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess || cudaMalloc(&out, properties.multiProcessorCount * 8 * 32 * sizeof(float)) != cudaSuccess ||
      !measure<4>(out, properties.multiProcessorCount) || !measure<8>(out, properties.multiProcessorCount)) {
    std::fprintf(stderr, "rate: %s\n", cudaGetErrorString(cudaGetLastError()));
    return 1;
  }
  return 0;
}
