// Max pooling 3 x 3, stride 2, padding 1
__global__ void max_pool(const float* in, float* out, int channels, int height, int width) {
  int out_x = blockIdx.x * blockDim.x + threadIdx.x;
  int out_y = blockIdx.y * blockDim.y + threadIdx.y;
  int c = blockIdx.z;
  int out_width = (width + 1) / 2;
  int out_height = (height + 1) / 2;
  if (out_x < out_width && out_y < out_height) {
    float maximum = -INFINITY;
    for (int i = -1; i <= 1; i++) {
      for (int j = -1; j <= 1; j++) {
        int y = out_y * 2 + i;
        int x = out_x * 2 + j;
        if (y >= 0 && y < height && x >= 0 && x < width) {
          maximum = fmaxf(maximum, in[(c * height + y) * width + x]);
        }
      }
    }
    out[(c * out_height + out_y) * out_width + out_x] = maximum;
  }
}
