// Julia set of a fixed constant for start values stored as two planes. threadIdx.x runs over rows,
// so loads and stores of a warp are a row apart; the short iteration does not hide that.
__global__ void julia(const float* zr, const float* zi, unsigned short* age, int rows, int cols,
                      int most, float cr, float ci) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  if (col >= cols) return;
  float r = zr[row * cols + col];
  float i = zi[row * cols + col];
  int n;
  for (n = 0; n < most; ++n) {
    float rr = r * r;
    float ii = i * i;
    if (rr + ii > 4.0f) break;
    i = 2.0f * r * i + ci;
    r = rr - ii + cr;
  }
  age[row * cols + col] = n;
}
