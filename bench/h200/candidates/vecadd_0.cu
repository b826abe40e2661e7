// sum = a + b. Already as good as memory allows: a search must not claim a gain here.
__global__ void vecadd(
    const float* a,
    const float* b,
    float* sum,
    int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    sum[i] = a[i] + b[i];
  }
}
