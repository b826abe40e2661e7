// One step of gradient descent with momentum and weight decay on a matrix, by a flat index that is
// taken apart column by column: neighbouring threads are a row apart. In double precision.
__global__ void momentum_flat(const double* gradient, const double* mask, double* velocity,
                              double* weight, double rate, double decay, int rows, int columns) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= rows * columns) return;
  int r = id % rows;
  int c = id / rows;
  double push = gradient[r * columns + c] * mask[r * columns + c];
  double v = 0.9 * velocity[r * columns + c];
  v = v - rate * (push + decay * weight[r * columns + c]);
  velocity[r * columns + c] = v;
  weight[r * columns + c] = weight[r * columns + c] + v;
}
