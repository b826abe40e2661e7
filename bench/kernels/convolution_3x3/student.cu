// Convolution layer: 3 x 3, stride 1, padding 1
__global__ void convolution_3x3(const float* in, const float* weights, float* out, int inputs, int outputs,
                                int height, int width) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y * blockDim.y + threadIdx.y;
  int k = blockIdx.z;
  if (w < width && h < height) {
    float sum = 0.0f;
    for (int c = 0; c < inputs; c++) {
      for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
          int y = h + i - 1;
          int x = w + j - 1;
          if (y >= 0 && y < height && x >= 0 && x < width) {
            sum += in[(c * height + y) * width + x] * weights[((k * inputs + c) * 3 + i) * 3 + j];
          }
        }
      }
    }
    out[(k * height + h) * width + w] = sum;
  }
}
