// 2D convolution with a 17 x 17 filter
#define FILTER_SIZE 17
#define RADIUS (FILTER_SIZE / 2)

__global__ void convolution_17(const float* in, const float* filter, float* out, int height, int width) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < height && col < width) {
    float sum = 0.0f;
    for (int i = 0; i < FILTER_SIZE; i++) {
      for (int j = 0; j < FILTER_SIZE; j++) {
        int r = row + i - RADIUS;
        int c = col + j - RADIUS;
        if (r >= 0 && r < height && c >= 0 && c < width) {
          sum += in[r * width + c] * filter[i * FILTER_SIZE + j];
        }
      }
    }
    out[row * width + col] = sum;
  }
}
