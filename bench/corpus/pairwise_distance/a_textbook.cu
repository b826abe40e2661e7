// Euclidean distance of every point of one set to every point of another, points stored row by row:
// one thread a pair. Loads of the second set are a whole point apart between neighbouring threads.
__global__ void distances(const float* a, const float* b, float* dist, int na, int nb, int dims) {
  int j = blockIdx.x * blockDim.x + threadIdx.x;
  int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < na && j < nb) {
    float sum = 0.0f;
    for (int k = 0; k < dims; k++) {
      float d = a[i * dims + k] - b[j * dims + k];
      sum += d * d;
    }
    dist[i * nb + j] = sqrtf(sum);
  }
}
