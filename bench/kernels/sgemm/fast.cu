// 128 x 128 elements a block, 8 x 8 a thread as four groups of 4 x 4, strips of 16 in two buffers: the next strip is
// on its way to registers while this one is multiplied.
constexpr int kTile = 128;
constexpr int kDepth = 16;
constexpr int kPitch = kTile + 4;

// Four elements of a row, zero beyond the matrix.
__device__ __forceinline__ float4 load_four(const float* __restrict__ matrix, int row, int rows, int column,
                                            int columns) {
  float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (row >= rows) return v;
  const float* at = matrix + static_cast<size_t>(row) * columns + column;
  if (columns % 4 == 0) {
    if (column < columns) v = *reinterpret_cast<const float4*>(at);
    return v;
  }
  if (column < columns) v.x = at[0];
  if (column + 1 < columns) v.y = at[1];
  if (column + 2 < columns) v.z = at[2];
  if (column + 3 < columns) v.w = at[3];
  return v;
}

__global__ void __launch_bounds__(256, 2) sgemm(const float* __restrict__ A, const float* __restrict__ B,
                                                float* __restrict__ C, int M, int N, int K, float alpha,
                                                float beta) {
  __shared__ __align__(16) float left[2][kDepth][kPitch];
  __shared__ __align__(16) float right[2][kDepth][kTile];
  const int thread = threadIdx.x;
  const int top = blockIdx.y * kTile;
  const int first = blockIdx.x * kTile;
  const int left_row = thread / 4;
  const int left_k = thread % 4 * 4;
  const int right_k = thread / 32;
  const int right_column = thread % 32 * 4;
  const int ty = thread / 16;
  const int tx = thread % 16;

  float4 next_left[2];
  float4 next_right[2];
  auto fetch = [&](int k) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      next_left[half] = load_four(A, top + left_row + 64 * half, M, k + left_k, K);
      next_right[half] = load_four(B, k + right_k + 8 * half, K, first + right_column, N);
    }
  };
  auto store = [&](int buffer) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      left[buffer][left_k][left_row + 64 * half] = next_left[half].x;
      left[buffer][left_k + 1][left_row + 64 * half] = next_left[half].y;
      left[buffer][left_k + 2][left_row + 64 * half] = next_left[half].z;
      left[buffer][left_k + 3][left_row + 64 * half] = next_left[half].w;
      *reinterpret_cast<float4*>(&right[buffer][right_k + 8 * half][right_column]) = next_right[half];
    }
  };

  float sums[8][8] = {};
  fetch(0);
  store(0);
  __syncthreads();
  int buffer = 0;
  for (int k = 0; k < K; k += kDepth) {
    const bool more = k + kDepth < K;
    if (more) fetch(k + kDepth);
#pragma unroll
    for (int d = 0; d < kDepth; ++d) {
      const float4 a0 = *reinterpret_cast<const float4*>(&left[buffer][d][4 * ty]);
      const float4 a1 = *reinterpret_cast<const float4*>(&left[buffer][d][4 * ty + 64]);
      const float4 b0 = *reinterpret_cast<const float4*>(&right[buffer][d][4 * tx]);
      const float4 b1 = *reinterpret_cast<const float4*>(&right[buffer][d][4 * tx + 64]);
      const float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
      const float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int j = 0; j < 8; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
    if (more) {
      store(buffer ^ 1);
      __syncthreads();
      buffer ^= 1;
    }
  }

#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const int row = top + 4 * ty + i % 4 + i / 4 * 64;
    if (row >= M) continue;
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const int column = first + 4 * tx + 64 * half;
      float* at = C + static_cast<size_t>(row) * N + column;
      if (N % 4 == 0) {
        if (column < N) {
          float4 c = *reinterpret_cast<float4*>(at);
          c.x = fmaf(alpha, sums[i][4 * half], beta * c.x);
          c.y = fmaf(alpha, sums[i][4 * half + 1], beta * c.y);
          c.z = fmaf(alpha, sums[i][4 * half + 2], beta * c.z);
          c.w = fmaf(alpha, sums[i][4 * half + 3], beta * c.w);
          *reinterpret_cast<float4*>(at) = c;
        }
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          if (column + j < N) at[j] = fmaf(alpha, sums[i][4 * half + j], beta * at[j]);
        }
      }
    }
  }
}
