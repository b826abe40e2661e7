__global__ void column_sum(const float* m, float* out, int rows, int cols) {
  int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= cols) return;
  const float* p = m + c;
  float s = 0.0f;
  for (int r = 0; r < rows; ++r, p += cols) s += *p;
  out[c] = s;
}
