// Streaming and collision with four directions, one plane a direction, in a frame of one cell.
// threadIdx.x counts rows: the eight accesses of a thread are each a row away from its neighbour's.
__global__ void stream_collide(const float* cell, float* next, int rows, int cols, float relax) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  int c = blockIdx.y * blockDim.y + threadIdx.y;
  if (r >= rows || c >= cols) return;
  int pitch = cols + 2;
  int area = pitch * (rows + 2);
  int here = (r + 1) * pitch + c + 1;
  float right = cell[here - 1];
  float left = cell[area + here + 1];
  float down = cell[2 * area + here - pitch];
  float up = cell[3 * area + here + pitch];
  float mean = 0.25f * (right + left + down + up);
  next[r * cols + c] = right + relax * (mean - right);
  next[(rows + r) * cols + c] = left + relax * (mean - left);
  next[(2 * rows + r) * cols + c] = down + relax * (mean - down);
  next[(3 * rows + r) * cols + c] = up + relax * (mean - up);
}
