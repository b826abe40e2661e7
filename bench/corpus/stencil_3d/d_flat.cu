// Average of the whole 3 x 3 x 3 neighbourhood, clamped at the border: a flat index with / and %,
// 27 loads and 27 clamped addresses for each cell.
__global__ void box_blur3d(const float* vol, float* blur, unsigned sx, unsigned sy, unsigned sz) {
  unsigned n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= sx * sy * sz) return;
  int x = n % sx;
  int y = n / sx % sy;
  int z = n / (sx * sy);
  float sum = 0.0f;
  for (int c = -1; c < 2; c++) {
    int zz = min(max(z + c, 0), (int)sz - 1);
    for (int b = -1; b < 2; b++) {
      int yy = min(max(y + b, 0), (int)sy - 1);
      for (int a = -1; a < 2; a++) {
        int xx = min(max(x + a, 0), (int)sx - 1);
        sum += vol[(zz * sy + yy) * sx + xx];
      }
    }
  }
  blur[n] = sum / 27.0f;
}
