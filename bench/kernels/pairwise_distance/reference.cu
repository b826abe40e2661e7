// The Euclidean distance of each point of a from each point of b, in double precision.
__global__ void pairwise_distance(const float* a, const float* b, float* out, int m, int n, int dim) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m * n) return;
  double sum = 0.0;
  for (int d = 0; d < dim; ++d) {
    double difference = (double)a[i / n * dim + d] - (double)b[i % n * dim + d];
    sum += difference * difference;
  }
  out[i] = (float)sqrt(sum);
}
