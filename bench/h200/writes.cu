// How fast this GPU takes stores: whole sectors by the bytes a thread stores, and sectors that are
// written in part.
//
//   nvcc -O3 -std=c++17 -arch=native -o writes bench/h200/writes.cu && ./writes
//
// Prints the shortest of seven times for filling and copying 16 MiB (which stay in L2), 128 MiB and
// 1 GiB with 2 to 16 bytes a thread, and for storing a float at every so many, in sectors of 32
// bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>

constexpr unsigned kThreads = 256;

template <typename T>
__global__ void fill(T* out, size_t n, T value) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = value;
}

template <typename T>
__global__ void copy(const T* in, T* out, size_t n) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i] = in[i];
}

__global__ void fill_in_part(float* out, size_t n, int stride) {
  const size_t i = blockIdx.x * static_cast<size_t>(blockDim.x) + threadIdx.x;
  if (i < n) out[i * stride] = 1.0f;
}

unsigned blocks_for(size_t n) {
  return static_cast<unsigned>((n + kThreads - 1) / kThreads);
}

template <typename Launch>
float milliseconds(Launch launch, int launches) {
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  float shortest = 1e9f;
  for (int i = 0; i < 7; ++i) {
    cudaEventRecord(begin);
    for (int k = 0; k < launches; ++k)
      launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float all = 0;
    cudaEventElapsedTime(&all, begin, end);
    shortest = std::min(shortest, all / static_cast<float>(launches));
  }
  return shortest;
}

template <typename T>
void measure(const char* name, char* from, char* to, size_t bytes) {
  const size_t n = bytes / sizeof(T);
  const int launches = bytes < (size_t{1} << 28) ? 50 : 5;
  const float filled = milliseconds(
      [&] { fill<T><<<blocks_for(n), kThreads>>>(reinterpret_cast<T*>(to), n, T{}); }, launches);
  const float copied = milliseconds(
      [&] {
        copy<T><<<blocks_for(n), kThreads>>>(reinterpret_cast<const T*>(from),
                                             reinterpret_cast<T*>(to), n);
      },
      launches);
  const double size = static_cast<double>(bytes);
  std::printf("%-6s %8.1f MiB: fill %.1f us %.2f TB/s; copy %.1f us, %.2f TB/s read and written\n",
              name, size / 1048576.0, filled * 1e3, size / filled * 1e-9, copied * 1e3,
              2 * size / copied * 1e-9);
}

int main() {
  constexpr size_t kBytes = size_t{1} << 30;
  char *from, *to;
  cudaMalloc(&from, kBytes);
  cudaMalloc(&to, kBytes);
  cudaMemset(from, 0, kBytes);
  cudaMemset(to, 0, kBytes);
  for (const size_t bytes : {size_t{16} << 20, size_t{128} << 20, kBytes}) {
    measure<std::uint16_t>("2 B", from, to, bytes);
    measure<std::uint32_t>("4 B", from, to, bytes);
    measure<uint2>("8 B", from, to, bytes);
    measure<uint4>("16 B", from, to, bytes);
  }
  for (const int stride : {1, 2, 4, 8, 16}) {
    for (const size_t span : {size_t{16} << 20, size_t{512} << 20}) {
      const size_t n = span / sizeof(float) / stride;
      const float time = milliseconds(
          [&] {
            fill_in_part<<<blocks_for(n), kThreads>>>(reinterpret_cast<float*>(to), n, stride);
          },
          10);
      const size_t sectors = stride <= 8 ? span / 32 : n;
      std::printf("float every %d of %zu MiB: %.1f us, %.2f TB/s of sectors\n", stride, span >> 20,
                  time * 1e3, static_cast<double>(sectors) * 32 / time * 1e-9);
    }
  }
}
