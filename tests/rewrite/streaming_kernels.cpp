#include "rewrite/sample_kernels.h"

namespace regraph::test {

std::vector<SampleKernel> streaming_kernels() {
  return {
      {"histogram_global", R"~(
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1);
})~",
       R"~(
sizes: {n: 5000000}
args:
  data: {dir: in, shape: [n], init: "int(0,255)"}
  bins: {dir: inout, shape: [256], init: "int(0,3)"}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~"},
      // Written out by hand, as generators do.
      {"four_bins_a_thread", R"~(
__global__ void count(const unsigned char* data, unsigned int* bins, int n) {
  const int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  const int j = i + 1, k = i + 2, l = i + 3;
  if (i < n) {
    const unsigned char value = data[i];
    atomicAdd(&bins[value], 1u);
  }
  if (j < n) {
    const unsigned char value = data[j];
    atomicAdd(&bins[value], 1u);
  }
  if (k < n) {
    const unsigned char value = data[k];
    atomicAdd(&bins[value], 1u);
  }
  if (l < n) {
    const unsigned char value = data[l];
    atomicAdd(&bins[value], 1u);
  }
})~",
       R"~(
sizes: {n: 50000000}
args: {data: {dir: in, shape: [n], init: "int(0,255)"}, bins: {dir: inout, shape: [256], init: "int(0,9)"}}
launch: {block: 128, grid: "cdiv(n, 4 * bx)"}
tests: [{n: 1001}, {n: 512}, {n: 1}]
)~"},
      {"histogram_of_the_grid", R"~(
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  const size_t stride = static_cast<size_t>(gridDim.x) * blockDim.x;
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += stride) {
    const int bin = data[i];
    if (bin < 256) atomicAdd(bins + bin, 1u);
  }
}
)~",
       R"~(
sizes: {n: 50000000}
args: {data: {dir: in, shape: [n], init: "int(0,255)"}, bins: {dir: inout, shape: [256], init: "int(0,9)"}}
launch: {block: 256, grid: "min(8, cdiv(n, bx))"}
tests: [{n: 1000}, {n: 257}, {n: 5}]
)~"},
      {"histogram_variable_bins", R"~(
__global__ void histogram(const int* data, int* bins, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int bin = data[i] % count;
  if (bin > 2) atomicMax(&bins[bin], i);
})~",
       R"~(
sizes: {n: 5000000, count: 70}
args:
  data: {dir: in, shape: [n], init: "int(0,255)"}
  bins: {dir: inout, shape: [count], init: "int(0,3)"}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000, count: 70}, {n: 1024, count: 3}, {n: 1, count: 1}]
)~"},
      {"chunks_until_either_end", R"~(
__global__ void chunks(const int* x, int* result, int n, int most) {
  long long first = ((long long)blockIdx.x * blockDim.x + threadIdx.x) * 8LL;
  int sum = 0;
  int k = 0;
  for (;;) {
    if (k >= 8) break;
    if (k >= most) break;
    long long at = first + k;
    if (at < (long long)n) sum = sum + x[at];
    k = k + 1;
  }
  atomicAdd(result, sum);
})~",
       R"~(
sizes: {n: 5000000, most: 6}
args:
  x: {dir: in, shape: [n], init: "int(0,255)"}
  result: {dir: inout, shape: [1], init: "int(0,3)"}
launch: {block: 64, grid: "cdiv(n, 8 * bx)"}
tests: [{n: 5000, most: 6}, {n: 1024, most: 9}, {n: 1, most: 1}]
)~"},
      {"gelu_rows", R"~(
__global__ void gelu(const float* a, const float* bias, float* b, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (c < cols && r < rows) {
    float x = a[r * cols + c] + bias[c];
    float t = tanhf(0.79788456f * (x + 0.044715f * x * x * x));
    if (x > 3.0f) t = 1.0f;
    b[r * cols + c] = 0.5f * x * (1.0f + t);
  }
})~",
       R"~(
sizes: {rows: 40, cols: 132}
args:
  a: {dir: in, shape: [rows, cols]}
  bias: {dir: in, shape: [cols]}
  b: {dir: out, shape: [rows, cols]}
launch: {block: [32, 4], grid: ["cdiv(cols, bx)", "cdiv(rows, by)"]}
tests: [{rows: 40, cols: 132}, {rows: 7, cols: 45}, {rows: 1, cols: 1}]
)~"},
      {"axpy_in_place", R"~(
__global__ void axpy(const double* x, double* y, double a, long long n) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i];
})~",
       R"~(
sizes: {n: 5000000}
args: {x: {dir: in, shape: [n]}, y: {dir: inout, shape: [n]}, a: 1.5}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5001}, {n: 1024}, {n: 1}]
)~"},
      {"all_pairs_vectors", R"~(
__global__ void forces(const float4* bodies, float4* pull, float softening, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 own = bodies[i];
    float ax = 0.0f, ay = 0.0f;
    for (int j = 0; j < n; ++j) {
      float4 other = bodies[j];
      float dx = other.x - own.x;
      float dy = other.y - own.y;
      float inverse = rsqrtf(dx * dx + dy * dy + softening);
      ax += dx * other.w * inverse;
      ay += dy * other.w * inverse;
    }
    pull[i] = make_float4(ax, ay, 0.0f, 0.0f);
  }
})~",
       R"~(
sizes: {n: 200}
args: {bodies: {dir: in, shape: [n]}, pull: {dir: out, shape: [n]}, softening: 0.01}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 150}, {n: 64}, {n: 1}]
)~"},
      {"scale_under_guard", R"~(
__global__ void scale(const float* a, float* b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float factor = 1.0f;
  float offset = 0.0f;
  if (i < n) {
    float step = 0.5f;
    if (i % 3 != 0) {
      for (int k = 0; k < 4; ++k) {
        factor += 1.0f;
        offset = 2.0f * k;
        step += 0.25f;
      }
    }
    b[i] = a[i] * factor + offset + step;
  }
})~",
       R"~(
sizes: {n: 5000000}
args: {a: {dir: in, shape: [n]}, b: {dir: out, shape: [n]}}
launch: {block: 128, grid: "cdiv(n, bx)"}
tests: [{n: 5000}, {n: 1024}, {n: 1}]
)~"},
      {"two_contractions", R"~(
__global__ void two(const float* A, const float* B, const float* V, float* C, int M, int N, int K) {
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < M && col < N) {
    float total = 0.0f;
    for (int batch = 0; batch < 2; ++batch) {
      float sum = 0.0f;
      for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[(batch * K + k) * N + col];
      total += sum * sum;
    }
    for (int k = 0; k < K; ++k) total += A[row * K + k] * V[k * N + col];
    C[row * N + col] = total;
  }
})~",
       R"~(
sizes: {M: 96, N: 96, K: 64}
args:
  A: {dir: in, shape: [M, K]}
  B: {dir: in, shape: [2, K, N]}
  V: {dir: in, shape: [K, N]}
  C: {dir: out, shape: [M, N]}
launch: {block: [16, 16], grid: ["cdiv(N, bx)", "cdiv(M, by)"]}
tests: [{M: 50, N: 40, K: 45}, {M: 32, N: 32, K: 32}, {M: 1, N: 1, K: 1}]
)~"},
      {"planes_to_channels", R"~(
__global__ void permute(const float* in, float* out, int n, int c, int h, int w) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int image = blockIdx.z / c;
  int plane = blockIdx.z % c;
  if (x < w && y < h) {
    out[((image * h + y) * w + x) * c + plane] = in[((image * c + plane) * h + y) * w + x];
  }
})~",
       R"~(
sizes: {n: 2, c: 40, h: 9, w: 33}
args: {in: {dir: in, shape: [n, c, h, w]}, out: {dir: out, shape: [n, h, w, c]}}
launch: {block: [16, 8], grid: ["cdiv(w, bx)", "cdiv(h, by)", "n * c"]}
tests: [{n: 2, c: 13, h: 7, w: 11}, {n: 2, c: 64, h: 8, w: 8}, {n: 1, c: 1, h: 1, w: 3}]
)~"},
      {"pairs_by_distance", R"~(
__global__ void forces(const float4* position, float4* force, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float ax = 0.0f, ay = 0.0f;
    for (int j = 0; j < n; j++) {
      float dx = position[j].x - position[i].x;
      float dy = position[j].y - position[i].y;
      float distance = sqrtf(dx * dx + dy * dy + 1e-2f);
      float pull = position[j].w / (distance * distance * distance);
      ax += dx * pull;
      ay += dy * pull;
    }
    force[i].x += ax;
    force[i].y += ay;
  }
})~",
       R"~(
sizes: {n: 200}
args:
  position: {dir: in, shape: [n]}
  force: {dir: inout, shape: [n]}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 200}, {n: 77}, {n: 1}]
check: {tolerance: 1.0e-4}
)~"},
      {"all_pairs", R"~(
__global__ void forces(const float* px, const float* py, const float* mass, float* fx, float* fy,
                       int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = px[i], y = py[i];
  float ax = 0.0f, ay = 0.0f;
  for (int j = 0; j < n; j++) {
    float dx = px[j] - x;
    float dy = py[j] - y;
    float inv = rsqrtf(dx * dx + dy * dy + 1e-2f);
    float s = mass[j] * inv * inv * inv;
    ax += dx * s;
    ay += dy * s;
  }
  fx[i] = ax;
  fy[i] = ay;
})~",
       R"~(
sizes: {n: 200}
args:
  px: {dir: in, shape: [n]}
  py: {dir: in, shape: [n]}
  mass: {dir: in, shape: [n], init: "uniform(0,1)"}
  fx: {dir: out, shape: [n]}
  fy: {dir: out, shape: [n]}
launch: {block: 64, grid: "cdiv(n, bx)"}
tests: [{n: 150}, {n: 64}, {n: 1}]
assume: {fast_math: true}
)~"},
  };
}

}  // namespace regraph::test
