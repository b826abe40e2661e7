__shared__ float tile[256];

__global__ void reverse(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  tile[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  if (i < n) y[i] = tile[255 - threadIdx.x];
}

void launch(const float* x, float* y, int n) { reverse<<<(n + 255) / 256, 256>>>(x, y, n); }
