__global__ void square(float* out, const float* in, int n) {
  const int i = threadIdx.x + blockDim.x * blockIdx.x;
  if (i >= n) return;
  float v = in[i];
  out[i] = v * v;
}
