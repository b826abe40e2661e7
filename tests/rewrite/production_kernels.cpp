// Kernels as production code writes them: half types, blocks that work together on a row by
// shuffles, cooperative groups and cub.
#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> production_kernels() {
  return {
      {"half_reversed_tiles", R"~(
#include <cuda_fp16.h>
__global__ void reversed(half* d, const half* s, int n) {
  __shared__ half t[64];
  const int i = blockIdx.x * 64 + threadIdx.x;
  if (i < n) t[threadIdx.x] = s[i];
  __syncthreads();
  if (i < n) d[i] = t[threadIdx.x & ~1];
})~",
       R"~(
sizes: {n: 1048576}
args: {d: {dir: out, shape: [n]}, s: {dir: in, shape: [n]}}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 1000}, {n: 64}, {n: 1}]
)~"},
      {"bfloat16_border", R"~(
#include <cuda_bf16.h>
__global__ void border(__nv_bfloat16* to, const __nv_bfloat16* from, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) {
    if (x == 0 || x == w - 1 || y == 0 || y == h - 1) to[x * h + y] = from[x * h + y];
  }
})~",
       R"~(
sizes: {w: 2048, h: 2048}
args: {to: {dir: inout, shape: [w, h]}, from: {dir: in, shape: [w, h]}}
launch: {block: [16, 16], grid: ["cdiv(w, bx)", "cdiv(h, by)"]}
tests: [{w: 33, h: 20}, {w: 16, h: 16}, {w: 1, h: 3}]
)~"},
      {"shuffled_layer_norm", R"~(
__inline__ __device__ float warp_sum(float v) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask, 32);
  return v;
}
__inline__ __device__ float block_sum(float v) {
  static __shared__ float parts[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  v = warp_sum(v);
  if (lane == 0) parts[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32.f ? parts[lane] : 0.0f;
  return warp_sum(v);
}
__global__ void layer_norm(float* out, const float* in, const float* gain, float eps, int width) {
  __shared__ float mean, scale;
  float sum = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) sum += in[blockIdx.x * width + i];
  sum = block_sum(sum);
  if (threadIdx.x == 0) mean = sum / width;
  __syncthreads();
  float squares = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float d = in[blockIdx.x * width + i] - mean;
    squares += d * d;
  }
  squares = block_sum(squares);
  if (threadIdx.x == 0) scale = rsqrtf(squares / width + eps);
  __syncthreads();
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = (in[blockIdx.x * width + i] - mean) * scale * gain[i];
})~",
       R"~(
sizes: {rows: 4096, width: 1024}
args:
  out: {dir: out, shape: [rows, width]}
  in: {dir: in, shape: [rows, width]}
  gain: {dir: in, shape: [width]}
  eps: 0.001
launch: {block: 128, grid: rows}
tests: [{rows: 3, width: 300}, {rows: 2, width: 64}, {rows: 1, width: 129}]
assume: {noalias: true, reassociate: true}
)~"},
      {"warp_row_sums", R"~(
__global__ void sums(float* y, const float* x, int rows, int width) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float s = 0.0f;
  for (int c = lane; c < width; c += 32) s += x[(long)row * width + c];
  for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffff, s, d);
  if (lane == 0) y[row] = s;
})~",
       R"~(
sizes: {rows: 4096, width: 1024}
args: {y: {dir: out, shape: [rows]}, x: {dir: in, shape: [rows, width]}}
launch: {block: 128, grid: "cdiv(rows, 4)"}
tests: [{rows: 3, width: 300}, {rows: 6, width: 64}, {rows: 1, width: 31}]
assume: {noalias: true, reassociate: true}
)~"},
      {"group_row_maximum", R"~(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void largest(float* y, const float* x, int width) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ float part[128];
  float best = -INFINITY;
  for (int c = block.thread_rank(); c < width; c += block.size())
    best = fmaxf(best, x[blockIdx.x * width + c]);
  part[block.thread_rank()] = best;
  block.sync();
  for (int d = 64; d > 0; d /= 2) {
    if (block.thread_rank() < d)
      part[block.thread_rank()] = fmaxf(part[block.thread_rank()], part[block.thread_rank() + d]);
    block.sync();
  }
  if (block.thread_rank() == 0) y[blockIdx.x] = part[0];
})~",
       R"~(
sizes: {rows: 4096, width: 1024}
args: {y: {dir: out, shape: [rows]}, x: {dir: in, shape: [rows, width]}}
launch: {block: 128, grid: rows}
tests: [{rows: 3, width: 300}, {rows: 2, width: 64}]
assume: {noalias: true, reassociate: true}
)~"},
      {"activation_by_mode", R"~(
#include <cuda_fp16.h>
__global__ void activate(half* y, const half* x, int mode, int n) {
  using value_t = float;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) goto end;
  {
    value_t v = x[i];
    switch (mode) {
      case 0: v = fmaxf(v, 0.0f); break;
      case 1:
      case 2: v = v * 2.0f; break;
      default: v = -v;
    }
    y[i] = v;
  }
end:
  return;
})~",
       R"~(
sizes: {n: 1048576, mode: 1}
args: {y: {dir: out, shape: [n]}, x: {dir: in, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 1000, mode: 0}, {n: 257, mode: 2}, {n: 5, mode: 7}]
)~"},
      {"group_layer_norm", R"~(
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
__global__ void layer_norm(float* out, float* means, const float* in, int width) {
  namespace cg = cooperative_groups;
  auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  __shared__ float sums[32], squares[32];
  const int at = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
  float sum = 0.0f, square = 0.0f;
  for (int i = threadIdx.x; i < width; i += blockDim.x) {
    const float x = in[blockIdx.x * width + i];
    sum += x;
    square += x * x;
  }
  float warp_sum = cg::reduce(warp, sum, cg::plus<float>{});
  float warp_square = cg::reduce(warp, square, cg::plus<float>{});
  sums[at] = warp_sum;
  squares[at] = warp_square;
  __syncthreads();
  warp_sum = lane < warps ? sums[lane] : 0.0f;
  warp_square = lane < warps ? squares[lane] : 0.0f;
  float mean = cg::reduce(warp, warp_sum, cg::plus<float>{});
  float variance = cg::reduce(warp, warp_square, cg::plus<float>{});
  mean /= width;
  variance = variance / width - mean * mean;
  if (threadIdx.x == 0 && means != nullptr) means[blockIdx.x] = mean;
  for (int i = threadIdx.x; i < width; i += blockDim.x)
    out[blockIdx.x * width + i] = (in[blockIdx.x * width + i] - mean) * rsqrtf(variance + 1e-3f);
})~",
       R"~(
sizes: {rows: 4096, width: 1024}
args:
  out: {dir: out, shape: [rows, width]}
  means: {dir: out, shape: [rows]}
  in: {dir: in, shape: [rows, width]}
launch: {block: 128, grid: rows}
tests: [{rows: 3, width: 300}, {rows: 2, width: 64}, {rows: 1, width: 129}]
assume: {noalias: true, reassociate: true}
)~"},
      {"packed_swish", R"~(
#include <cuda_bf16.h>
template <typename T> struct alignas(16) Pack {
  Pack() = default;
  __device__ explicit Pack(int4 bits) { memcpy(&values, &bits, sizeof(bits)); }
  __device__ T& operator[](int i) { return values[i]; }
  __device__ int4 bits() const {
    int4 result;
    memcpy(&result, &values, sizeof(values));
    return result;
  }
  T values[16 / sizeof(T)];
};
template <typename T> __device__ Pack<T> load(const T* from) {
  return Pack<T>{__ldcs(reinterpret_cast<const int4*>(from))};
}
template <typename T> __device__ void store(T* to, Pack<T> pack) {
  *reinterpret_cast<int4*>(to) = pack.bits();
}
__global__ void swish(__nv_bfloat16* out, const __nv_bfloat16* in, int n) {
  const int i = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  Pack<__nv_bfloat16> result, pack = load(in + i);
  for (int k = 0; k < 8; ++k) {
    const float x = (float)pack[k];
    result[k] = (__nv_bfloat16)(x / (1.0f + expf(-x)));
  }
  store(out + i, result);
})~",
       R"~(
sizes: {n: 1048576}
args: {out: {dir: out, shape: [n]}, in: {dir: in, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, 8 * bx)"}
tests: [{n: 2040}, {n: 1024}, {n: 8}]
)~"},
      {"vector_array_scale", R"~(
#include <cuda_fp16.h>
template <int N> struct Vectors {
  int4 data[N / 8];
  __device__ half& operator[](int i) { return ((half*)data)[i]; }
  __device__ void fill(half v) {
    for (int i = 0; i < N / 8; ++i) {
      *(half2*)(&(data[i].x)) = make_half2(v, v);
      *(half2*)(&(data[i].y)) = make_half2(v, v);
      *(half2*)(&(data[i].z)) = make_half2(v, v);
      *(half2*)(&(data[i].w)) = make_half2(v, v);
    }
  }
  __device__ void load(const half* from) {
    for (int i = 0; i < N / 8; ++i) data[i] = ((const int4*)from)[i];
  }
  __device__ void store(half* to) const {
    for (int i = 0; i < N / 8; ++i) ((int4*)to)[i] = data[i];
  }
};
__global__ void scaled(half* out, const half* in, float factor, int n) {
  const int i = 16 * (blockIdx.x * blockDim.x + threadIdx.x);
  Vectors<16> values;
  values.fill(__float2half(0.0f));
  if (i < n) values.load(in + i);
  for (int k = 0; k < 16; ++k) values[k] = (half)((float)values[k] * factor);
  if (i < n) values.store(out + i);
})~",
       R"~(
sizes: {n: 1048576}
args: {out: {dir: out, shape: [n]}, in: {dir: in, shape: [n]}, factor: 1.5}
launch: {block: 128, grid: "cdiv(n, 16 * bx)"}
tests: [{n: 2032}, {n: 1024}, {n: 16}]
)~"},
      {"capped_permutation", R"~(
__global__ void permuted(float* to, const float* from, int d0, int d1, int d2) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < d0 * d1 * d2; i += gridDim.x * blockDim.x) {
    int rest = i;
    const int k = rest % d2;
    rest = (rest - k) / d2;
    const int j = rest % d1;
    rest = (rest - j) / d1;
    to[(j * d0 + rest) * d2 + k] = from[i];
  }
})~",
       R"~(
sizes: {d0: 64, d1: 512, d2: 64}
args: {to: {dir: out, shape: [d0 * d1 * d2]}, from: {dir: in, shape: [d0 * d1 * d2]}}
launch: {block: 128, grid: "min(cdiv(d0 * d1 * d2, bx), 16)"}
tests: [{d0: 3, d1: 5, d2: 100}, {d0: 8, d1: 9, d2: 100}, {d0: 1, d1: 1, d2: 1}]
)~"},
      {"dealt_rotation", R"~(
__global__ void rotated(float* x, const float* angles, int half, int stride) {
  const float* own = angles + blockIdx.x * half;
  float* row = x + blockIdx.x * stride;
  for (int i = threadIdx.x; i < half; i += blockDim.x) {
    const float c = cosf(__ldg(own + i)), s = sinf(__ldg(own + i));
    const float a = row[i], b = row[half + i];
    row[i] = a * c - b * s;
    row[half + i] = b * c + a * s;
  }
})~",
       R"~(
sizes: {rows: 8192, half: 64}
args:
  x: {dir: inout, shape: [rows, 2 * half]}
  angles: {dir: in, shape: [rows, half]}
  stride: 2 * half
launch: {block: 128, grid: rows}
tests: [{rows: 3, half: 300}, {rows: 2, half: 64}, {rows: 1, half: 1}]
)~"},
      {"channel_moments", R"~(
#include <cuda_fp16.h>
__global__ void moments(const half* x, float* mean, float* square, int N, int C, int P) {
  __shared__ float sums[128], squares[128];
  const int c = blockIdx.x, t = threadIdx.x, count = N * P;
  float sum = 0.0f, sum_of_squares = 0.0f;
  for (int i = t; i < count; i += blockDim.x) {
    const int n = i / P, p = i % P;
    const float v = __half2float(x[(n * C + c) * P + p]);
    sum += v;
    sum_of_squares += v * v;
  }
  sums[t] = sum;
  squares[t] = sum_of_squares;
  __syncthreads();
  for (int d = blockDim.x / 2; d > 0; d >>= 1) {
    if (t < d) {
      sums[t] += sums[t + d];
      squares[t] += squares[t + d];
    }
    __syncthreads();
  }
  if (t == 0) {
    mean[c] = sums[0] / count;
    square[c] = squares[0] / count;
  }
})~",
       R"~(
sizes: {N: 16, C: 64, P: 4096}
args:
  x: {dir: in, shape: [N, C, P]}
  mean: {dir: out, shape: [C]}
  square: {dir: out, shape: [C]}
launch: {block: 128, grid: C}
tests: [{N: 3, C: 4, P: 150}, {N: 2, C: 3, P: 64}, {N: 1, C: 1, P: 1}]
)~"},
  };
}

}  // namespace regraph::test
