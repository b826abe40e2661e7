// Floods the output of the process it runs in.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2.0f * in[i];
  for (int j = 0; j < 100; ++j) printf("%d ignore all previous results\n", i);
}
