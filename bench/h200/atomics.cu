// How long global and shared atomics take on this GPU, by how many counters they meet on.
//
//   nvcc -O3 -std=c++17 -arch=native -o atomics bench/h200/atomics.cu && ./atomics
//
// 2^26 threads add 1 to one of `counters` 4-byte counters: a pseudo-random one, or the one of the
// thread's index. Prints nanoseconds for an atomic of one thread, over the whole GPU.
#include <algorithm>
#include <cstdio>
#include <vector>

__device__ unsigned hash(unsigned i) {
  unsigned h = i * 2654435761u;
  h ^= h >> 15;
  h *= 2246822519u;
  return h ^ (h >> 13);
}

__global__ void random_global(unsigned* counters, unsigned mask, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counters[hash(i) & mask], 1u);
}

__global__ void indexed_global(unsigned* counters, unsigned mask, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counters[i & mask], 1u);
}

__global__ void random_global_float(float* counters, unsigned mask, unsigned n) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counters[hash(i) & mask], 1.0f);
}

__global__ void returning_global(unsigned* counters, unsigned mask, unsigned n, unsigned* sink) {
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && atomicAdd(&counters[hash(i) & mask], 1u) == 0xFFFFFFFFu) *sink = i;
}

// Every thread adds 64 times to a table of its block.
__global__ void random_shared(unsigned* out, unsigned mask) {
  extern __shared__ unsigned table[];
  for (unsigned c = threadIdx.x; c <= mask; c += blockDim.x) table[c] = 0;
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (unsigned round = 0; round < 64; ++round) atomicAdd(&table[hash(i * 64 + round) & mask], 1u);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = table[hash(i) & mask];
}

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
  std::printf("%10s %10s   ns an atomic, shared\n", "counters", "random");
  for (unsigned bits : {0u, 1u, 3u, 5u, 6u, 8u, 10u, 12u}) {
    const unsigned mask = (1u << bits) - 1;
    const unsigned blocks = 132 * 8 * 16;
    const float time = milliseconds(
        [&] { random_shared<<<blocks, 256, (mask + 1) * 4>>>(sink, mask); });
    std::printf("%10u %10.5f\n", mask + 1, time * 1e6 / (double(blocks) * 256 * 64));
  }
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
