typedef unsigned char byte;
__global__ void grey(const byte* __restrict__ rgb, byte* __restrict__ out, unsigned int width,
                     unsigned int height) {
  unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    unsigned int at = y * width + x;
    byte r = rgb[3 * at], g = rgb[3 * at + 1], b = rgb[3 * at + 2];
    out[at] = (byte)(0.299f * r + 0.587f * g + 0.114f * b);
  }
}
