// The swish function of every element of a row-major matrix. The x index of a thread is its row, so
// neighbouring threads touch addresses that lie a whole row apart.
__device__ float swish_of(float v) {
  return v / (1.0f + expf(-v));
}

__global__ void swish_matrix(const float* source, float* target, int height, int width) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int column = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= height) return;
  if (column >= width) return;
  target[row * width + column] = swish_of(source[row * width + column]);
}
