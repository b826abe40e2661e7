template <int BLOCK>
__global__ void block_max(const float* in, float* out, int n) {
  __shared__ float buffer[BLOCK];
  int i = blockIdx.x * BLOCK + threadIdx.x;
  buffer[threadIdx.x] = i < n ? in[i] : -1e30f;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) buffer[threadIdx.x] = fmaxf(buffer[threadIdx.x], buffer[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = buffer[0];
}

int main() {
  float *in, *out;
  const int n = 1 << 22;
  block_max<128><<<(n + 127) / 128, 128>>>(in, out, n);
}
