// Pretends that its lines are another file's.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
#line 1 "all_tests_passed.cu"
  if (i < n) out[i] = 2.0001f * in[i];
}
