// Convolution of an image with a 7x7 filter that the host puts into constant memory; pixels beyond
// the border count as zero.
#define RADIUS 3
#define WIDTH (2 * RADIUS + 1)

__constant__ float filter[WIDTH * WIDTH];

__global__ void convolution2d(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    float sum = 0.0f;
    for (int dy = -RADIUS; dy <= RADIUS; ++dy) {
      for (int dx = -RADIUS; dx <= RADIUS; ++dx) {
        if (y + dy >= 0 && y + dy < height && x + dx >= 0 && x + dx < width) {
          sum += filter[(dy + RADIUS) * WIDTH + dx + RADIUS] * in[(y + dy) * width + x + dx];
        }
      }
    }
    out[y * width + x] = sum;
  }
}
