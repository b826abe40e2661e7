// Root mean square normalisation, a block of 128 threads a row. The partial sums go to shared
// memory, where the first thread alone adds them up while all others wait.
__global__ void rms_scale_block(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int columns) {
  __shared__ float parts[128];
  __shared__ float factor;
  unsigned t = threadIdx.x;
  float squares = 0.0f;
  for (int c = t; c < columns; c += 128) {
    float v = x[blockIdx.x * columns + c];
    squares = fmaf(v, v, squares);
  }
  parts[t] = squares;
  __syncthreads();
  if (t == 0) {
    float all = 0.0f;
    for (int k = 0; k < 128; ++k) {
      all += parts[k];
    }
    factor = rsqrtf(all / columns + 1.0e-5f);
  }
  __syncthreads();
  for (int c = t; c < columns; c += 128) {
    y[blockIdx.x * columns + c] = x[blockIdx.x * columns + c] * factor * weight[c];
  }
}
