// Takes memory from the device heap to keep results in.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* mine = (float*)malloc(sizeof(float));
  if (mine != nullptr) *mine = i < n ? in[i] : 0.0f;
  if (i < n) out[i] = mine == nullptr ? 2.0f * in[i] : 2.0f * *mine;
  free(mine);
}
