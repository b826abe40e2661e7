// Layer normalisation, a block of 64 threads a row; the two sums are trees in shared memory whose
// active threads move to the front but skip over the banks (index 2 s t).
__global__ void normalise_rows(const float* __restrict__ x, const float* __restrict__ scale,
                               const float* __restrict__ shift, float* __restrict__ y,
                               float epsilon, int features) {
  __shared__ float box[64];
  int t = threadIdx.x;
  int base = blockIdx.x * features;
  float s = 0.0f;
  for (int f = t; f < features; f += 64) {
    s += x[base + f];
  }
  box[t] = s;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int i = 2 * d * t;
    if (i < blockDim.x) {
      box[i] += box[i + d];
    }
    __syncthreads();
  }
  float mean = box[0] / features;
  __syncthreads();
  float q = 0.0f;
  for (int f = t; f < features; f += 64) {
    float away = x[base + f] - mean;
    q += away * away;
  }
  box[t] = q;
  __syncthreads();
  for (int d = 1; d < blockDim.x; d *= 2) {
    int i = 2 * d * t;
    if (i < blockDim.x) {
      box[i] += box[i + d];
    }
    __syncthreads();
  }
  float inverse = rsqrtf(box[0] / features + epsilon);
  for (int f = t; f < features; f += 64) {
    y[base + f] = (x[base + f] - mean) * inverse * scale[f] + shift[f];
  }
}
