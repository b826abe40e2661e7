// Batched product in which one matrix W multiplies many small matrices: a flat index over all
// outputs, taken apart with / and % so that the row of an output, not its column, runs fastest.
__global__ void batched_flat(const double* W, const double* X, double* Y, unsigned batch,
                             unsigned n) {
  unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= batch * n * n) return;
  unsigned i = idx % n;
  unsigned j = (idx / n) % n;
  unsigned b = idx / (n * n);
  double s = 0.0;
  unsigned l = 0;
  while (l < n) {
    s += W[i * n + l] * X[(b * n + l) * n + j];
    ++l;
  }
  Y[(b * n + i) * n + j] = s;
}
