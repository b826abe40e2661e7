// How long global and shared atomics take on this GPU, by how many counters they meet on; of vectors,
// too.
//
//   nvcc -O3 -std=c++17 -arch=native -o atomics bench/h200/atomics.cu && ./atomics
//
// 2^26 threads add 1 to one of `counters` 4-byte counters: a pseudo-random one, or the one of the
// thread's index. Prints nanoseconds for an atomic of one thread, over the whole GPU. Of vectors 2^26
// elements are added (2^20 of single halves that meet), and the nanoseconds are those of an element.
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

// A table of all vector types for one place: nanoseconds an element, where there are `counters`
// elements (or one vector of them, or one row of 512 bytes).
template <typename Float, typename Float2, typename Float4, typename Half, typename Half2,
          typename Bfloat, typename Bfloat2>
void vector_table(const char* place, void* memory, bool has_float_vectors, Float float1, Float2 float2_,
                  Float4 float4_, Half half1, Half2 half2_, Bfloat bfloat1, Bfloat2 bfloat2) {
  std::printf("%10s %10s %10s %10s %10s %10s %10s %10s   ns an element, vectors, %s\n", "counters",
              "float", "float2", "float4", "half", "half2", "bfloat", "bfloat2", place);
  for (unsigned bits : {0u, 3u, 5u, 7u, 8u, 10u, 12u, 14u, 16u, 18u, 20u, 22u, 24u, 26u}) {
    std::printf("%10u", 1u << bits);
    auto entry = [&](auto kernel, auto* vectors, unsigned width) {
      if (width > 1 && sizeof(*vectors) > 4 && !has_float_vectors) {
        std::printf(" %10s", "-");
        return;
      }
      // Single halves are loops of compare-and-swap: where many meet they take their time.
      const bool swaps = sizeof(*vectors) == 2 && bits < 14;
      const unsigned elements = swaps ? 1u << 20 : 1u << 26;
      const unsigned n = elements / width;
      const unsigned mask = std::max((1u << bits) / width, 1u) - 1;
      const float time = milliseconds([&] { kernel<<<n / 256, 256>>>(vectors, mask, n); });
      std::printf(" %10.5f", time * 1e6 / elements);
    };
    entry(float1, static_cast<float*>(memory), 1);
    entry(float2_, static_cast<float2*>(memory), 2);
    entry(float4_, static_cast<float4*>(memory), 4);
    entry(half1, static_cast<__half*>(memory), 1);
    entry(half2_, static_cast<__half2*>(memory), 2);
    entry(bfloat1, static_cast<__nv_bfloat16*>(memory), 1);
    entry(bfloat2, static_cast<__nv_bfloat162*>(memory), 2);
    std::printf("\n");
  }
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
  int device = 0;
  cudaDeviceProp properties;
  cudaGetDevice(&device);
  cudaGetDeviceProperties(&properties, device);
  const bool vectors = properties.major >= 9;
  cudaMemset(counters, 0, std::size_t{n} * 4);
#define TABLE(PLACE)                                                                                 \
  vector_table(#PLACE, counters, vectors, PLACE##_float1, PLACE##_float2, PLACE##_float4, PLACE##_half1, \
               PLACE##_half2, PLACE##_bfloat1, PLACE##_bfloat2)
  TABLE(indexed);
  TABLE(random);
  TABLE(rows);
#undef TABLE
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
