// Softmax along the rows of a matrix with a running maximum and a sum that is rescaled whenever the
// maximum grows: one thread a row, two walks instead of three, accesses a row apart.
#define AT(row, column) ((row)*columns + (column))

template <typename Real>
__global__ void running_soft_max(const Real* scores, Real* weights, int rows, int columns) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  Real top = scores[AT(r, 0)];
  Real sum = Real(1);
  for (int c = 1; c < columns; ++c) {
    Real v = scores[AT(r, c)];
    if (v > top) {
      sum = sum * expf(top - v) + Real(1);
      top = v;
    } else {
      sum = sum + expf(v - top);
    }
  }
  for (int c = 0; c < columns; ++c) {
    weights[AT(r, c)] = expf(scores[AT(r, c)] - top) / sum;
  }
}
