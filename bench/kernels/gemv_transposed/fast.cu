// 128 columns (16 bytes a lane) and 512 rows a block: 16 warps down the rows, sums joined in shared memory, one
// atomic a column and block.
__global__ void __launch_bounds__(512) gemv_transposed(const float* __restrict__ A, const float* __restrict__ x,
                                                       float* __restrict__ y, int rows, int columns) {
  __shared__ float parts[16][128];
  const int top = blockIdx.y * 512;
  const int bottom = min(top + 512, rows);
  const int left = blockIdx.x * 128;
  const int lane = threadIdx.x;
  float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  if (columns % 4 == 0) {
    if (left + 4 * lane < columns) {
#pragma unroll 8
      for (int r = top + threadIdx.y; r < bottom; r += 16) {
        const float4 a = *reinterpret_cast<const float4*>(A + static_cast<size_t>(r) * columns + left + 4 * lane);
        const float b = x[r];
        sum.x = fmaf(a.x, b, sum.x);
        sum.y = fmaf(a.y, b, sum.y);
        sum.z = fmaf(a.z, b, sum.z);
        sum.w = fmaf(a.w, b, sum.w);
      }
    }
    *reinterpret_cast<float4*>(&parts[threadIdx.y][4 * lane]) = sum;
  } else {
    for (int r = top + threadIdx.y; r < bottom; r += 16) {
      const float* row = A + static_cast<size_t>(r) * columns + left;
      const float b = x[r];
      if (left + lane < columns) sum.x = fmaf(row[lane], b, sum.x);
      if (left + lane + 32 < columns) sum.y = fmaf(row[lane + 32], b, sum.y);
      if (left + lane + 64 < columns) sum.z = fmaf(row[lane + 64], b, sum.z);
      if (left + lane + 96 < columns) sum.w = fmaf(row[lane + 96], b, sum.w);
    }
    parts[threadIdx.y][lane] = sum.x;
    parts[threadIdx.y][lane + 32] = sum.y;
    parts[threadIdx.y][lane + 64] = sum.z;
    parts[threadIdx.y][lane + 96] = sum.w;
  }
  __syncthreads();
  const int c = threadIdx.y * 32 + lane;
  if (c < 128 && left + c < columns) {
    float total = 0.0f;
#pragma unroll
    for (int k = 0; k < 16; ++k) total += parts[k][c];
    atomicAdd(y + left + c, total);
  }
}
