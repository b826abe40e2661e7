// Products of many matrices of at most 16 x 16: a block a product, both operands staged in unpadded
// shared arrays. The right operand is given transposed and is stored so, which makes bank
// conflicts.
#define EDGE 16
__global__ void products_staged(const float* __restrict__ P, const float* __restrict__ Qt,
                                float* __restrict__ R, int items, int rows, int cols, int depth) {
  __shared__ float p[EDGE][EDGE];
  __shared__ float q[EDGE][EDGE];
  int x = threadIdx.x;
  int y = threadIdx.y;
  int item = blockIdx.x;
  float total = 0.0f;
  for (int base = 0; base < depth; base += EDGE) {
    p[y][x] = 0.0f;
    q[y][x] = 0.0f;
    if (y < rows && base + x < depth) p[y][x] = P[(item * rows + y) * depth + base + x];
    if (y < cols && base + x < depth) q[y][x] = Qt[(item * cols + y) * depth + base + x];
    __syncthreads();
    for (int t = 0; t < EDGE; t++)
      total += p[y][t] * q[x][t];
    __syncthreads();
  }
  if (y < rows && x < cols) R[(item * rows + y) * cols + x] = total;
}
