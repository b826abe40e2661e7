// A causal filter on many channels stored one after the other. The channel follows threadIdx.x,
// time follows y: neighbouring threads read and write a whole channel apart.
__global__ void filter_channels(const float* signal, const float* weight, float* filtered,
                                int channels, int length, int order) {
  int c = threadIdx.x + blockIdx.x * blockDim.x;
  int t = threadIdx.y + blockIdx.y * blockDim.y;
  if (c < channels && t < length) {
    float v = 0.0f;
    int last = order < t + 1 ? order : t + 1;
    for (int j = 0; j < last; ++j)
      v += weight[j] * signal[c * length + t - j];
    filtered[c * length + t] = v;
  }
}
