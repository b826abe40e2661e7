// index_select(dim 0)
__global__ void embedding(const float* table, const int* index, float* out, int tokens, int width) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= tokens * width) return;
  int x1 = idx / width;
  int x0 = idx % width;
  int tmp0 = index[x1];
  float tmp1 = table[x0 + width * tmp0];
  out[idx] = tmp1;
}
