// 3 x 3 filters over all input channels for each output channel, zeros around the image, in double precision.
__global__ void convolution_3x3(const float* in, const float* weights, float* out, int inputs, int outputs,
                                int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= outputs * height * width) return;
  int o = i / (height * width);
  double sum = 0.0;
  for (int f = 0; f < inputs * 9; ++f) {
    int y = i / width % height + f / 3 % 3 - 1;
    int x = i % width + f % 3 - 1;
    if (y >= 0 && y < height && x >= 0 && x < width) {
      sum += (double)in[(f / 9 * height + y) * width + x] * (double)weights[o * inputs * 9 + f];
    }
  }
  out[i] = (float)sum;
}
