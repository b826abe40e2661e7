// 16 lanes a row, two entries in flight a lane, joined by shuffles.
__global__ void __launch_bounds__(256) csr_spmv(const int* __restrict__ offsets, const int* __restrict__ columns,
                                                const float* __restrict__ values, const float* __restrict__ x,
                                                float* __restrict__ y, int rows) {
  constexpr int kLanes = 16;
  const int lane = threadIdx.x % kLanes;
  const int row = blockIdx.x * (256 / kLanes) + threadIdx.x / kLanes;
  float first = 0.0f;
  float second = 0.0f;
  if (row < rows) {
    const int end = offsets[row + 1];
    int entry = offsets[row] + lane;
    for (; entry + kLanes < end; entry += 2 * kLanes) {
      const int a = columns[entry];
      const int b = columns[entry + kLanes];
      first = fmaf(values[entry], x[a], first);
      second = fmaf(values[entry + kLanes], x[b], second);
    }
    if (entry < end) first = fmaf(values[entry], x[columns[entry]], first);
  }
  float sum = first + second;
  for (int offset = kLanes / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (lane == 0 && row < rows) y[row] = sum;
}
