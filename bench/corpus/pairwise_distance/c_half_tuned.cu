// Squared distances through unpadded 16 x 16 tiles of both sets. The second tile is read along its
// rows by neighbouring threads: 16 of them fall on two banks.
#define SIDE 16
__global__ void tile_distances(const float* first, const float* second, float* out, int rows,
                               int cols, int length) {
  __shared__ float f[SIDE][SIDE];
  __shared__ float s[SIDE][SIDE];
  int lx = threadIdx.x;
  int ly = threadIdx.y;
  int row = blockIdx.y * SIDE + ly;
  int col = blockIdx.x * SIDE + lx;
  int other = blockIdx.x * SIDE + ly;
  float sum = 0.0f;
  for (int at = 0; at < length; at += SIDE) {
    f[ly][lx] = (row < rows && at + lx < length) ? first[row * length + at + lx] : 0.0f;
    s[ly][lx] = (other < cols && at + lx < length) ? second[other * length + at + lx] : 0.0f;
    __syncthreads();
    for (int k = 0; k < SIDE; k++) {
      float diff = f[ly][k] - s[lx][k];
      sum += diff * diff;
    }
    __syncthreads();
  }
  if (row < rows && col < cols) out[row * cols + col] = sum;
}
