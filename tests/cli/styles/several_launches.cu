__global__ void scale(float* x, float s, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= s;
}
void warm_up(float* x) {
  scale<<<64, 64>>>(x, 1.0f, 4096);
}
void work(float* x) {
  scale<<<4096, 256>>>(x, 2.0f, 1 << 20);
}
