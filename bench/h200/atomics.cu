// How long global and shared atomics take on this GPU, by how many counters they meet on.
//
//   nvcc -O3 -std=c++17 -arch=native -o atomics bench/h200/atomics.cu && ./atomics
//
// 2^26 threads add 1 to one of `counters` 4-byte counters: a pseudo-random one, or the one of the
// thread's index. Prints nanoseconds for an atomic of one thread, over the whole GPU.
#include "atomic_kernels.cuh"

#include <algorithm>
#include <cstdio>
#include <vector>

template <typename Launch>
float milliseconds(Launch launch) {
  launch();
  std::vector<float> times;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < 5; ++i) {
    cudaEventRecord(begin);
    launch();
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    float one = 0;
    cudaEventElapsedTime(&one, begin, end);
    times.push_back(one);
  }
  std::sort(times.begin(), times.end());
  return times[2];
}

int main() {
  const unsigned n = 1u << 26;
  unsigned* counters;
  cudaMalloc(&counters, std::size_t{n} * 4);
  cudaMemset(counters, 0, std::size_t{n} * 4);
  unsigned* sink;
  cudaMalloc(&sink, 1 << 20);
  std::printf("%10s %10s %10s %10s %10s   ns an atomic, global\n", "counters", "random", "indexed", "float",
              "returning");
  for (unsigned bits : {0u, 2u, 3u, 4u, 5u, 6u, 8u, 10u, 12u, 14u, 16u, 18u, 20u, 22u, 24u, 26u}) {
    const unsigned mask = (1u << bits) - 1;
    const float random = milliseconds([&] { random_global<<<n / 256, 256>>>(counters, mask, n); });
    const float indexed = milliseconds([&] { indexed_global<<<n / 256, 256>>>(counters, mask, n); });
    const float floats =
        milliseconds([&] { random_global_float<<<n / 256, 256>>>((float*)counters, mask, n); });
    const float returning =
        milliseconds([&] { returning_global<<<n / 256, 256>>>(counters, mask, n, sink); });
    std::printf("%10u %10.4f %10.4f %10.4f %10.4f\n", mask + 1, random * 1e6 / n, indexed * 1e6 / n,
                floats * 1e6 / n, returning * 1e6 / n);
  }
  std::printf("%10s %10s %10s %10s %10s %10s   ns an atomic, shared\n", "counters", "increment", "value",
              "float", "returning", "none");
  for (unsigned bits : {0u, 1u, 3u, 5u, 6u, 8u, 10u, 12u}) {
    const unsigned mask = (1u << bits) - 1;
    const unsigned blocks = 132 * 8 * 16;
    std::printf("%10u", mask + 1);
    auto row = [&](auto kernel) {
      const float time = milliseconds([&] { kernel<<<blocks, 256, (mask + 1) * 4>>>(sink, mask); });
      std::printf(" %10.5f", time * 1e6 / (double(blocks) * 256 * 64));
    };
    row(increment_shared);
    row(value_shared);
    row(float_shared);
    row(returning_shared);
    row(none_shared);
    std::printf("\n");
  }
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
