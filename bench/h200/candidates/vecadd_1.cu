// sum = a + b. Already as good as memory allows: a search must not claim a gain here.
__global__ void vecadd(
    const float* a,
    const float* b,
    float* sum,
    int n) {
  #pragma unroll
  for (int cx = 0; cx < 4; ++cx) {
    int i = (blockIdx.x * 4 + cx) * blockDim.x + threadIdx.x;
    if (i < n) {
      sum[i] = a[i] + b[i];
    }
  }
}
