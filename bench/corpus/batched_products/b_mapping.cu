// Products of many small square matrices. threadIdx.x walks over the batch and a thread does a
// whole row of its product, so neighbouring threads are a whole matrix apart in memory.
__global__ void small_products(const float* left, const float* right, float* result, int count,
                               int order) {
  const int which = blockIdx.x * blockDim.x + threadIdx.x;
  const int r = blockIdx.y * blockDim.y + threadIdx.y;
  if (which >= count || r >= order) return;
  const float* a = left + which * order * order;
  const float* b = right + which * order * order;
  float* c = result + which * order * order;
  for (int j = 0; j < order; ++j) {
    float acc = 0.0f;
    for (int t = 0; t < order; ++t) {
      acc += a[r * order + t] * b[t * order + j];
    }
    c[r * order + j] = acc;
  }
}
