// bins[v] += how often v occurs.
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  for (int i = 0; i < n; ++i) bins[data[i]] += 1;
}
