// 64 x 64 distances a block, 4 x 4 a thread, 16 coordinates at a time in shared memory with the point last.
__device__ __forceinline__ void stage(const float* __restrict__ points, int count, int dim, int first, int base,
                                      float (*tile)[68]) {
  const int point = threadIdx.x / 4;
  const int at = threadIdx.x % 4 * 4;
  float held[4] = {0.0f, 0.0f, 0.0f, 0.0f};
  if (first + point < count) {
    const float* from = points + static_cast<size_t>(first + point) * dim + base + at;
    if (dim % 4 == 0) {
      if (base + at < dim) {
        const float4 v = *reinterpret_cast<const float4*>(from);
        held[0] = v.x;
        held[1] = v.y;
        held[2] = v.z;
        held[3] = v.w;
      }
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (base + at + k < dim) held[k] = from[k];
      }
    }
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) tile[at + k][point] = held[k];
}

__global__ void __launch_bounds__(256) pairwise_distance(const float* __restrict__ a, const float* __restrict__ b,
                                                         float* __restrict__ out, int m, int n, int dim) {
  __shared__ __align__(16) float rows[16][68];
  __shared__ __align__(16) float columns[16][68];
  const int top = blockIdx.y * 64;
  const int left = blockIdx.x * 64;
  const int ty = threadIdx.x / 16;
  const int tx = threadIdx.x % 16;
  float sums[4][4] = {};
  for (int base = 0; base < dim; base += 16) {
    stage(a, m, dim, top, base, rows);
    stage(b, n, dim, left, base, columns);
    __syncthreads();
#pragma unroll
    for (int d = 0; d < 16; ++d) {
      const float4 x = *reinterpret_cast<const float4*>(&rows[d][4 * ty]);
      const float4 y = *reinterpret_cast<const float4*>(&columns[d][4 * tx]);
      const float p[4] = {x.x, x.y, x.z, x.w};
      const float q[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] = fmaf(p[i] - q[j], p[i] - q[j], sums[i][j]);
      }
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = top + 4 * ty + i;
    const int column = left + 4 * tx;
    if (row >= m) return;
    float* at = out + static_cast<size_t>(row) * n + column;
    if (n % 4 == 0) {
      if (column < n) {
        *reinterpret_cast<float4*>(at) =
            make_float4(sqrtf(sums[i][0]), sqrtf(sums[i][1]), sqrtf(sums[i][2]), sqrtf(sums[i][3]));
      }
    } else {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (column + j < n) at[j] = sqrtf(sums[i][j]);
      }
    }
  }
}
