// Distance matrix between two sets of points
__global__ void pairwise_distance(const float* a, const float* b, float* out, int m, int n, int dim) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < m && j < n) {
    float sum = 0.0f;
    for (int d = 0; d < dim; d++) {
      float difference = a[i * dim + d] - b[j * dim + d];
      sum += difference * difference;
    }
    out[i * n + j] = sqrtf(sum);
  }
}
