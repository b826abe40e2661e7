__device__ __forceinline__ float weight(float distance, float width) {
  return expf(-distance * distance / (2.0f * width * width));
}

__device__ float smooth(const float* signal, int center, int radius, int length) {
  float sum = 0.0f, total = 0.0f;
  for (int k = -radius; k <= radius; k++) {
    int at = min(max(center + k, 0), length - 1);
    float w = weight((float)k, 2.0f);
    sum += w * signal[at];
    total += w;
  }
  return sum / total;
}

__global__ void smooth_signal(const float* signal, float* result, int length) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < length) result[i] = smooth(signal, i, 4, length);
}
