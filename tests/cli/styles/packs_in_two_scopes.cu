struct alignas(16) Pack {
  float v[4];
  __device__ float& operator[](int i) { return v[i]; }
  __device__ const float& operator[](int i) const { return v[i]; }
};

__device__ Pack load_pack(const float* from) { return *reinterpret_cast<const Pack*>(from); }

__global__ void scale_pairs(const float* x, float* y, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i + 8 > n) return;
  {
    Pack out;
    for (int j = 0; j < 4; ++j) out[j] = 2.0f * x[i + j];
    for (int j = 0; j < 4; ++j) y[i + j] = out[j];
  }
  {
    Pack out;
    for (int j = 0; j < 4; ++j) out[j] = 3.0f * x[i + 4 + j];
    for (int j = 0; j < 4; ++j) y[i + 4 + j] = out[j];
  }
}
