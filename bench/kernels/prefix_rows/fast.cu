// One block a row, 1024 elements a round: four a thread, lanes by shuffles, warps by shuffles again.
__device__ __forceinline__ float scan_warp(float value) {
  const int lane = threadIdx.x % 32;
  for (int distance = 1; distance < 32; distance *= 2) {
    const float before = __shfl_up_sync(0xffffffffu, value, distance);
    if (lane >= distance) value += before;
  }
  return value;
}

__global__ void __launch_bounds__(256) prefix_rows(const float* __restrict__ x, float* __restrict__ out, int rows,
                                                   int columns) {
  __shared__ float sums[2][8];
  const size_t start = static_cast<size_t>(blockIdx.x) * columns;
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  const bool aligned = columns % 4 == 0;
  float carry = 0.0f;
  int buffer = 0;
  for (int first = 0; first < columns; first += 1024) {
    const int c = first + 4 * threadIdx.x;
    float held[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (aligned && c < columns) {
      const float4 v = *reinterpret_cast<const float4*>(x + start + c);
      held[0] = v.x;
      held[1] = v.y;
      held[2] = v.z;
      held[3] = v.w;
    } else if (!aligned) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (c + j < columns) held[j] = x[start + c + j];
      }
    }
    held[1] += held[0];
    held[2] += held[1];
    held[3] += held[2];
    const float upto = scan_warp(held[3]);
    if (lane == 31) sums[buffer][warp] = upto;
    __syncthreads();
    float before = carry + upto - held[3];
#pragma unroll
    for (int w = 0; w < 8; ++w) {
      const float sum = sums[buffer][w];
      if (w < warp) before += sum;
      carry += sum;
    }
    buffer ^= 1;
    if (aligned && c < columns) {
      *reinterpret_cast<float4*>(out + start + c) =
          make_float4(before + held[0], before + held[1], before + held[2], before + held[3]);
    } else if (!aligned) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (c + j < columns) out[start + c + j] = before + held[j];
      }
    }
  }
}
