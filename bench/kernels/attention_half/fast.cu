// 16 queries a warp, 64 a block, 64 keys a round: scores and outputs stay in the registers of the tensor cores'
// products, weights go from one product to the next without shared memory. Values are on their way while scores are
// computed, the next keys while values are mixed.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int kDim = 128;
constexpr int kKeys = 64;
constexpr int kPitch = kDim + 8;

__device__ __forceinline__ void load_four(unsigned int (&to)[4], const __half* from) {
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void load_four_turned(unsigned int (&to)[4], const __half* from) {
  const unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(from));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

__device__ __forceinline__ void multiply(float (&sum)[4], const unsigned int (&a)[4], unsigned int b0,
                                         unsigned int b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

__device__ __forceinline__ unsigned int pack(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const unsigned int*>(&pair);
}

// Rows of keys or values to shared memory, zeros beyond the sequence.
__device__ __forceinline__ void copy_tile(__half (&tile)[kKeys][kPitch], const __half* __restrict__ from, int base,
                                          int sequence) {
#pragma unroll
  for (int i = threadIdx.x; i < kKeys * kDim / 8; i += 128) {
    const int row = i / (kDim / 8);
    const int d = i % (kDim / 8) * 8;
    const bool inside = base + row < sequence;
    __pipeline_memcpy_async(&tile[row][d], from + (inside ? static_cast<size_t>(base + row) * kDim + d : 0), 16,
                            inside ? 0 : 16);
  }
  __pipeline_commit();
}

__global__ void __launch_bounds__(128)
    attention_half(const __half* __restrict__ query, const __half* __restrict__ keys, const __half* __restrict__ values,
                   __half* __restrict__ out, float scale, int sequence) {
  __shared__ __align__(128) __half key_tile[kKeys][kPitch];
  __shared__ __align__(128) __half value_tile[kKeys][kPitch];
  const int lane = threadIdx.x % 32;
  const int group = lane / 4;
  const int pair = lane % 4 * 2;
  const size_t head = static_cast<size_t>(blockIdx.y) * sequence * kDim;
  query += head;
  keys += head;
  values += head;
  out += head;
  const int row = blockIdx.x * 64 + threadIdx.x / 32 * 16 + group;  // and the one eight below
  copy_tile(key_tile, keys, 0, sequence);

  unsigned int q[kDim / 16][4];
#pragma unroll
  for (int d = 0; d < kDim / 16; ++d) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int r = row + i % 2 * 8;
      const int column = 16 * d + i / 2 * 8 + pair;
      q[d][i] =
          r < sequence ? *reinterpret_cast<const unsigned int*>(query + static_cast<size_t>(r) * kDim + column) : 0;
    }
  }
  const float to_log2 = scale * 1.4426950408889634f;
  float peak[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};
  float mix[kDim / 8][4] = {};
  for (int base = 0; base < sequence; base += kKeys) {
    __pipeline_wait_prior(0);
    __syncthreads();
    copy_tile(value_tile, values, base, sequence);
    float scores[kKeys / 8][4] = {};
#pragma unroll
    for (int d = 0; d < kDim / 16; ++d) {
#pragma unroll
      for (int t = 0; t < kKeys / 16; ++t) {
        unsigned int k[4];
        load_four(k, &key_tile[16 * t + lane / 16 * 8 + lane % 8][16 * d + lane / 8 % 2 * 8]);
        multiply(scores[2 * t], q[d], k[0], k[1]);
        multiply(scores[2 * t + 1], q[d], k[2], k[3]);
      }
    }
    __syncthreads();
    if (base + kKeys < sequence)
      copy_tile(key_tile, keys, base + kKeys, sequence);
    else
      __pipeline_commit();

    float higher[2] = {peak[0], peak[1]};
#pragma unroll
    for (int t = 0; t < kKeys / 8; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const bool inside = base + 8 * t + pair + i % 2 < sequence;
        scores[t][i] = inside ? scores[t][i] * to_log2 : -INFINITY;
        higher[i / 2] = fmaxf(higher[i / 2], scores[t][i]);
      }
    }
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      higher[i] = fmaxf(higher[i], __shfl_xor_sync(0xffffffffu, higher[i], 1));
      higher[i] = fmaxf(higher[i], __shfl_xor_sync(0xffffffffu, higher[i], 2));
      const float shrink = exp2f(peak[i] - higher[i]);
      peak[i] = higher[i];
      sum[i] *= shrink;
#pragma unroll
      for (int d = 0; d < kDim / 8; ++d) {
        mix[d][2 * i] *= shrink;
        mix[d][2 * i + 1] *= shrink;
      }
    }
#pragma unroll
    for (int t = 0; t < kKeys / 8; ++t) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        scores[t][i] = exp2f(scores[t][i] - peak[i / 2]);
        sum[i / 2] += scores[t][i];
      }
    }
    __pipeline_wait_prior(1);
    __syncthreads();
#pragma unroll
    for (int t = 0; t < kKeys / 16; ++t) {
      const unsigned int weights[4] = {
          pack(scores[2 * t][0], scores[2 * t][1]), pack(scores[2 * t][2], scores[2 * t][3]),
          pack(scores[2 * t + 1][0], scores[2 * t + 1][1]), pack(scores[2 * t + 1][2], scores[2 * t + 1][3])};
#pragma unroll
      for (int d = 0; d < kDim / 16; ++d) {
        unsigned int v[4];
        load_four_turned(v, &value_tile[16 * t + lane % 16][16 * d + lane / 16 * 8]);
        multiply(mix[2 * d], weights, v[0], v[1]);
        multiply(mix[2 * d + 1], weights, v[2], v[3]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], 1);
    sum[i] += __shfl_xor_sync(0xffffffffu, sum[i], 2);
    const int r = row + 8 * i;
    if (r >= sequence) continue;
    const float inverse = 1.0f / sum[i];
#pragma unroll
    for (int d = 0; d < kDim / 8; ++d) {
      *reinterpret_cast<unsigned int*>(out + static_cast<size_t>(r) * kDim + 8 * d + pair) =
          pack(mix[d][2 * i] * inverse, mix[d][2 * i + 1] * inverse);
    }
  }
}
