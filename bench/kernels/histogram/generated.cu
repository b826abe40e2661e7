// scatter(add, 1) over 4 elements a thread
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int v0 = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  int v1 = v0 + 1;
  int v2 = v0 + 2;
  int v3 = v0 + 3;
  if (v0 < n) {
    unsigned int v4 = (unsigned int)data[v0];
    atomicAdd(&bins[v4], 1u);
  }
  if (v1 < n) {
    unsigned int v5 = (unsigned int)data[v1];
    atomicAdd(&bins[v5], 1u);
  }
  if (v2 < n) {
    unsigned int v6 = (unsigned int)data[v2];
    atomicAdd(&bins[v6], 1u);
  }
  if (v3 < n) {
    unsigned int v7 = (unsigned int)data[v3];
    atomicAdd(&bins[v7], 1u);
  }
}
