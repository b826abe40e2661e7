#include "rewrite/sample_kernels.h"

namespace regraph::test {
namespace {

constexpr const char* kAttentionManifest = R"~(
sizes: {queries: 3000, length: 512}
args:
  query: {dir: in, shape: [queries, 8], init: normal}
  keys: {dir: in, shape: [length, 8], init: normal}
  values: {dir: in, shape: [length, 8], init: normal}
  out: {dir: out, shape: [queries, 8]}
  scale: 0.35
launch: {block: 32, grid: "cdiv(queries, bx)"}
tests: [{queries: 37, length: 45}, {queries: 64, length: 32}, {queries: 1, length: 1}]
assume: {noalias: true, reassociate: true, fast_math: true}
)~";

}  // namespace

std::vector<SampleKernel> attention_kernels() {
  return {
      {"attention_rows", R"~(
#define DIM 8
__global__ void attention(const float* query, const float* keys, const float* values, float* out,
                          float scale, int queries, int length) {
  int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q < queries) {
    float maximum = -INFINITY;
    for (int t = 0; t < length; t++) {
      float score = 0.0f;
      for (int d = 0; d < DIM; d++) score += query[q * DIM + d] * keys[t * DIM + d];
      maximum = fmaxf(maximum, score * scale);
    }
    float sum = 0.0f;
    for (int d = 0; d < DIM; d++) out[q * DIM + d] = 0.0f;
    for (int t = 0; t < length; t++) {
      float score = 0.0f;
      for (int d = 0; d < DIM; d++) score += query[q * DIM + d] * keys[t * DIM + d];
      float weight = expf(score * scale - maximum);
      sum += weight;
      for (int d = 0; d < DIM; d++) out[q * DIM + d] += weight * values[t * DIM + d];
    }
    for (int d = 0; d < DIM; d++) out[q * DIM + d] /= sum;
  }
})~",
       kAttentionManifest},
      // The same by pointers, with names for what is computed, and another way to find the maximum.
      {"attention_pointers", R"~(
__global__ void attention(const float* query, const float* keys, const float* values, float* out,
                          float scale, int queries, int length) {
  const size_t row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= queries) return;
  const float* q = query + row * 8;
  float* o = out + row * 8;
  float best = -1e30f;
  for (int t = 0; t < length; ++t) {
    const float* k = keys + t * 8;
    float dot = 0.0f;
    for (int i = 0; i < 8; ++i) dot = fmaf(q[i], __ldg(&k[i]), dot);
    const float s = dot * scale;
    if (s > best) best = s;
  }
  float total = 0.0f;
  for (int i = 0; i < 8; ++i) o[i] = 0.0f;
  for (int t = 0; t < length; ++t) {
    const float* k = keys + t * 8;
    const float* v = values + t * 8;
    float dot = 0.0f;
    for (int i = 0; i < 8; ++i) dot = fmaf(q[i], __ldg(&k[i]), dot);
    const float w = expf(dot * scale - best);
    for (int i = 0; i < 8; ++i) o[i] = fmaf(w, v[i], o[i]);
    total += w;
  }
  const float inverse = 1.0f / total;
  for (int i = 0; i < 8; ++i) o[i] *= inverse;
})~",
       kAttentionManifest},
      // One block a query and one thread a dimension, as libraries have it: a tree for every score.
      {"attention_blocks", R"~(
__global__ void attention(const float* __restrict__ query, const float* __restrict__ keys,
                          const float* __restrict__ values, float* __restrict__ out, float scale,
                          int queries, int length) {
  __shared__ float products[8];
  const int d = threadIdx.x;
  const float q = query[static_cast<size_t>(blockIdx.x) * 8 + d] * scale;
  float peak = -INFINITY;
  float sum = 0.0f;
  float mix = 0.0f;
  for (int t = 0; t < length; ++t) {
    products[d] = q * keys[static_cast<size_t>(t) * 8 + d];
    __syncthreads();
    for (int half = 4; half > 0; half /= 2) {
      if (d < half) products[d] += products[d + half];
      __syncthreads();
    }
    const float score = products[0];
    const float value = values[static_cast<size_t>(t) * 8 + d];
    const float higher = fmaxf(peak, score);
    const float shrink = expf(peak - higher);
    const float weight = expf(score - higher);
    mix = mix * shrink + weight * value;
    sum = sum * shrink + weight;
    peak = higher;
    __syncthreads();
  }
  out[static_cast<size_t>(blockIdx.x) * 8 + d] = mix / sum;
})~",
       R"~(
sizes: {queries: 3000, length: 512}
args:
  query: {dir: in, shape: [queries, 8], init: normal}
  keys: {dir: in, shape: [length, 8], init: normal}
  values: {dir: in, shape: [length, 8], init: normal}
  out: {dir: out, shape: [queries, 8]}
  scale: 0.35
launch: {block: 8, grid: queries}
tests: [{queries: 37, length: 45}, {queries: 64, length: 32}, {queries: 1, length: 1}]
assume: {noalias: true, reassociate: true, fast_math: true}
)~"},
      // One thread a query, online in the way of textbooks, with its sums in an array.
      {"attention_online", R"~(
__global__ void attention(const float* query, const float* keys, const float* values, float* out,
                          float scale, int queries, int length) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= queries) return;
  float mix[8];
  for (int d = 0; d < 8; ++d) mix[d] = 0.0f;
  float m = -INFINITY;
  float l = 0.0f;
  for (int t = 0; t < length; ++t) {
    float dot = 0.0f;
    for (int d = 0; d < 8; ++d) dot += query[q * 8 + d] * keys[t * 8 + d];
    float s = dot * scale;
    float larger = fmaxf(m, s);
    float correction = __expf(m - larger);
    float w = __expf(s - larger);
    l = fmaf(l, correction, w);
    m = larger;
    for (int d = 0; d < 8; ++d) mix[d] = mix[d] * correction + w * values[t * 8 + d];
  }
  for (int d = 0; d < 8; ++d) out[q * 8 + d] = mix[d] / l;
})~",
       kAttentionManifest},
      // Of halves, each row with the keys up to its own.
      {"attention_causal_half", R"~(
#include <cuda_fp16.h>
__global__ void attention(const __half* query, const __half* keys, const __half* values, __half* out,
                          float scale, int length) {
  const int q = blockIdx.x * blockDim.x + threadIdx.x;
  if (q >= length) return;
  float mix[16] = {0.0f};
  float m = -INFINITY;
  float l = 0.0f;
  for (int t = 0; t <= q; ++t) {
    float dot = 0.0f;
    for (int d = 0; d < 16; ++d) dot += __half2float(query[q * 16 + d]) * __half2float(keys[t * 16 + d]);
    float s = dot * scale;
    float larger = fmaxf(m, s);
    float correction = expf(m - larger);
    float w = expf(s - larger);
    l = l * correction + w;
    m = larger;
    for (int d = 0; d < 16; ++d) mix[d] = mix[d] * correction + w * __half2float(values[t * 16 + d]);
  }
  for (int d = 0; d < 16; ++d) out[q * 16 + d] = __float2half(mix[d] / l);
})~",
       R"~(
sizes: {length: 3000}
args:
  query: {dir: in, shape: [length, 16], init: normal}
  keys: {dir: in, shape: [length, 16], init: normal}
  values: {dir: in, shape: [length, 16], init: normal}
  out: {dir: out, shape: [length, 16]}
  scale: 0.25
launch: {block: 64, grid: "cdiv(length, bx)"}
tests: [{length: 70}, {length: 64}, {length: 1}]
assume: {noalias: true, reassociate: true, fast_math: true, precision: any}
)~"},
      // The largest starts from the first element, which the sum takes in as well.
      {"log_sum_exp", R"~(
__global__ void cross_entropy(const float* x, const int* labels, float* loss, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float m = x[row * cols];
  for (int c = 1; c < cols; ++c) m = fmaxf(m, x[row * cols + c]);
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) {
    float d = x[row * cols + c] - m;
    sum += expf(d);
  }
  loss[row] = logf(sum) + m - x[row * cols + labels[row] % cols];
})~",
       R"~(
sizes: {rows: 3000, cols: 512}
args:
  x: {dir: in, shape: [rows, cols], init: normal}
  labels: {dir: in, shape: [rows], init: "int(0,7)"}
  loss: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 9, cols: 132}, {rows: 64, cols: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      // Masked: at first, or all along, there may be nothing but minus infinity.
      {"masked_means", R"~(
__global__ void masked(const float* x, const int* mask, double* mean, double* mass, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < rows) {
    double best = -INFINITY;
    for (int c = 0; c < cols; c++) {
      double score = mask[row * cols + c] > 0 ? (double)x[c] : -INFINITY;
      if (score > best) best = score;
    }
    double sum = 0.0;
    double total = 0;
    for (int c = 0; c < cols; c++) {
      double score = mask[row * cols + c] > 0 ? (double)x[c] : -INFINITY;
      sum = sum + exp(score - best);
      total -= -exp(score - best) * c;
    }
    mean[row] = total / sum;
    mass[row] = sum;
  }
})~",
       R"~(
sizes: {rows: 3000, cols: 512}
args:
  x: {dir: in, shape: [cols], init: normal}
  mask: {dir: in, shape: [rows, cols], init: "int(-1,1)"}
  mean: {dir: out, shape: [rows]}
  mass: {dir: out, shape: [rows]}
launch: {block: 64, grid: "cdiv(rows, bx)"}
tests: [{rows: 70, cols: 45}, {rows: 64, cols: 2}, {rows: 64, cols: 1}]
assume: {noalias: true, reassociate: true}
)~"},
      // Three passes over rows of constant length, in place.
      {"unit_vectors", R"~(
__global__ void normalise(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float mean = 0.0f;
  for (int d = 0; d < 12; ++d) mean += x[i * 12 + d];
  mean /= 12.0f;
  float length = 0.0f;
  for (int d = 0; d < 12; ++d) {
    x[i * 12 + d] -= mean;
    length += x[i * 12 + d] * x[i * 12 + d];
  }
  for (int d = 0; d < 12; ++d) x[i * 12 + d] = x[i * 12 + d] / sqrtf(length + 1e-6f);
})~",
       R"~(
sizes: {n: 30000}
args: {x: {dir: inout, shape: [n, 12]}}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 300}, {n: 64}, {n: 1}]
)~"},
      // Sums onto what is there, which may be none: the number of terms is read from memory.
      {"gathered_rows", R"~(
__global__ void gather(const int* counts, const double* table, const float* weights, double* out,
                       int n, int terms) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const int count = counts[i];
    for (int t = 0; t < terms; ++t) {
      if (t < count) {
        for (int d = 0; d < 5; ++d) out[i * 5 + d] += weights[t] * table[t * 5 + d];
      }
      out[i * 5 + 4] += 1.0;
      out[i * 5] -= out[i * 5 + 4];
    }
    for (int d = 0; d < 5; ++d) out[i * 5 + d] *= 0.5;
  }
})~",
       R"~(
sizes: {n: 3000, terms: 300}
args:
  counts: {dir: in, shape: [n], init: "int(0,9)"}
  table: {dir: in, shape: [terms, 5]}
  weights: {dir: in, shape: [terms]}
  out: {dir: inout, shape: [n, 5]}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 70, terms: 12}, {n: 64, terms: 9}, {n: 1, terms: 1}]
)~"},
  };
}

}  // namespace regraph::test
