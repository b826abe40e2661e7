// Counts numbers in 64 bins from the other side: a thread owns one bin of one segment of 256
// numbers, looks at all of the segment, and adds what it found.
#define SEGMENT 256
#define BIN_COUNT 64

__global__ void count_by_bin(const int* numbers, int* bins, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  int bin = id % BIN_COUNT;
  int segment = id / BIN_COUNT;
  int found = 0;
  for (int k = 0; k < SEGMENT; ++k) {
    int at = segment * SEGMENT + k;
    if (at < n) {
      if (numbers[at] / 16 == bin) {
        found += 1;
      }
    }
  }
  if (found > 0) {
    atomicAdd(&bins[bin], found);
  }
}
