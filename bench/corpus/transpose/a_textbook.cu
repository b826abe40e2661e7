// Transposes a matrix. A block of 16 x 16 threads reads along rows and writes down columns: each
// warp's store goes to 16 lines of the result.
__global__ void turn(const float* source, float* turned, int lines, int length) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < length && y < lines) {
    turned[x * lines + y] = source[y * length + x];
  }
}
