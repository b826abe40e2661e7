// The kernels that bench/h200/atomics.cu measures and bench/model_error predicts: threads add to one
// of mask + 1 counters of 4 bytes, or of vectors of them and of halves.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

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

enum class Kind { none, increment, value, floating, returning };

// Every thread adds 64 times to a table of its block; with `none` it only computes where.
template <Kind kind>
__device__ void add_to_table(unsigned* out, unsigned mask) {
  extern __shared__ unsigned table[];
  for (unsigned c = threadIdx.x; c <= mask; c += blockDim.x) table[c] = 0;
  __syncthreads();
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (unsigned round = 0; round < 64; ++round) {
    const unsigned at = hash(i * 64 + round) & mask;
    if (kind == Kind::none) sum ^= at;
    if (kind == Kind::increment) atomicAdd(&table[at], 1u);
    if (kind == Kind::value) atomicAdd(&table[at], i);
    if (kind == Kind::floating) atomicAdd((float*)&table[at], 1.0f);
    if (kind == Kind::returning) sum ^= atomicAdd(&table[at], i);
  }
  __syncthreads();
  if (threadIdx.x == 0 || sum == 0x12345678u) out[blockIdx.x] = table[hash(i) & mask] + sum;
}

__global__ void increment_shared(unsigned* out, unsigned mask) { add_to_table<Kind::increment>(out, mask); }
__global__ void value_shared(unsigned* out, unsigned mask) { add_to_table<Kind::value>(out, mask); }
__global__ void float_shared(unsigned* out, unsigned mask) { add_to_table<Kind::floating>(out, mask); }
__global__ void returning_shared(unsigned* out, unsigned mask) { add_to_table<Kind::returning>(out, mask); }
__global__ void none_shared(unsigned* out, unsigned mask) { add_to_table<Kind::none>(out, mask); }

// Vectors: every thread adds one. `indexed`: to the vector of its index; `random`: to a pseudo-random
// one; `rows`: 512 bytes in a row to neighbours, the rows at random.
enum class Place { indexed, random, rows };

template <Place place, typename Vector>
__device__ void add_vector(Vector* vectors, Vector one, unsigned mask, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned row = 512 / sizeof(Vector);
  const unsigned at = place == Place::indexed  ? i
                      : place == Place::random ? hash(i)
                                               : hash(i / row) * row + i % row;
  // Vectors of floats are there from sm_90 on.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 900
  if constexpr (sizeof(Vector) <= 4)
#endif
    atomicAdd(&vectors[at & mask], one);
}

#define VECTOR_KERNELS(NAME, TYPE, ONE)                                                            \
  __global__ void indexed_##NAME(TYPE* v, unsigned mask, unsigned n) { add_vector<Place::indexed>(v, ONE, mask, n); } \
  __global__ void random_##NAME(TYPE* v, unsigned mask, unsigned n) { add_vector<Place::random>(v, ONE, mask, n); }   \
  __global__ void rows_##NAME(TYPE* v, unsigned mask, unsigned n) { add_vector<Place::rows>(v, ONE, mask, n); }
VECTOR_KERNELS(float1, float, 1.0f)
VECTOR_KERNELS(float2, float2, make_float2(1.0f, 1.0f))
VECTOR_KERNELS(float4, float4, make_float4(1.0f, 1.0f, 1.0f, 1.0f))
VECTOR_KERNELS(half1, __half, __half(1.0f))
VECTOR_KERNELS(half2, __half2, __half2(1.0f, 1.0f))
VECTOR_KERNELS(bfloat1, __nv_bfloat16, __nv_bfloat16(1.0f))
VECTOR_KERNELS(bfloat2, __nv_bfloat162, __nv_bfloat162(1.0f, 1.0f))
#undef VECTOR_KERNELS
