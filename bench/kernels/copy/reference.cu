// Every element of `in` is found in `out`.
__global__ void copy(const float* in, float* out, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    out[i] = in[i];
  }
}
