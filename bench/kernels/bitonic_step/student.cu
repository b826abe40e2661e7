// One step of bitonic sort
__global__ void bitonic_step(float* data, int n, int j, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int ixj = i ^ j;
  if (i < n && ixj < n && ixj > i) {
    if ((i & k) == 0) {
      if (data[i] > data[ixj]) {
        float temp = data[i];
        data[i] = data[ixj];
        data[ixj] = temp;
      }
    } else {
      if (data[i] < data[ixj]) {
        float temp = data[i];
        data[i] = data[ixj];
        data[ixj] = temp;
      }
    }
  }
}
