// The discrete cosine transform (type II, orthonormal) of every 8 x 8 block of an image.
//
// First version: one thread a coefficient, the formula as it stands in textbooks.

#define EDGE 8
#define PI 3.14159265358979f

__global__ void block_dct(const float* image, float* coefficients, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int u = x % EDGE;
  int v = y % EDGE;
  int left = x - u;
  int top = y - v;
  float sum = 0.0f;
  for (int j = 0; j < EDGE; ++j) {
    for (int i = 0; i < EDGE; ++i) {
      float across = cosf((2 * i + 1) * u * PI / (2 * EDGE));
      float down = cosf((2 * j + 1) * v * PI / (2 * EDGE));
      sum += image[(top + j) * width + left + i] * across * down;
    }
  }
  float scale_across = u == 0 ? sqrtf(1.0f / EDGE) : sqrtf(2.0f / EDGE);
  float scale_down = v == 0 ? sqrtf(1.0f / EDGE) : sqrtf(2.0f / EDGE);
  coefficients[y * width + x] = scale_across * scale_down * sum;
}
