// 7 x 7 filter, one pixel a thread: the block's pixels and a border of 3 are in shared memory (no
// padding), the weights in constant memory; nothing is kept in registers between pixels.
#define R 3
#define T 16
__constant__ float weights[(2 * R + 1) * (2 * R + 1)];
__global__ void conv_shared(const float* pixels, float* filtered, int w, int h) {
  __shared__ float patch[T + 2 * R][T + 2 * R];
  int tx = threadIdx.x;
  int ty = threadIdx.y;
  int left = blockIdx.x * T - R;
  int top = blockIdx.y * T - R;
  for (int y = ty; y < T + 2 * R; y += T) {
    for (int x = tx; x < T + 2 * R; x += T) {
      int gx = left + x;
      int gy = top + y;
      patch[y][x] = 0.0f;
      if (gx >= 0 && gx < w && gy >= 0 && gy < h) patch[y][x] = pixels[gy * w + gx];
    }
  }
  __syncthreads();
  int px = blockIdx.x * T + tx;
  int py = blockIdx.y * T + ty;
  if (px < w && py < h) {
    float v = 0.0f;
    for (int i = 0; i <= 2 * R; i++) {
      for (int j = 0; j <= 2 * R; j++)
        v += weights[i * (2 * R + 1) + j] * patch[ty + i][tx + j];
    }
    filtered[py * w + px] = v;
  }
}
