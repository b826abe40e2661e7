// Bilinear sampling of a feature map of many channels at given places: a block of 64 threads a
// place, the threads stride over the channels, whose planes are far apart.
__global__ void sample_features(const float* __restrict__ map, const float* __restrict__ places,
                                float* __restrict__ samples, int channels, int h, int w) {
  int p = blockIdx.x;
  float px = fabsf(places[2 * p]);
  float py = fabsf(places[2 * p + 1]);
  float u = (px - floorf(px)) * (w - 1);
  float v = (py - floorf(py)) * (h - 1);
  int x = min((int)u, w - 2);
  int y = min((int)v, h - 2);
  float a = u - x;
  float b = v - y;
  for (int c = threadIdx.x; c < channels; c += blockDim.x) {
    const float* f = map + (c * h + y) * w + x;
    float upper = f[0] + a * (f[1] - f[0]);
    float lower = f[w] + a * (f[w + 1] - f[w]);
    samples[p * channels + c] = upper + b * (lower - upper);
  }
}
