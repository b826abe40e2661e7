__global__ void collatz(const int* start, int* steps, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = start[i] + 1;
  int count = 0;
  do {
    v = (v & 1) ? 3 * v + 1 : v / 2;
    ++count;
  } while (v > 1 && count < 200);
  steps[i] = count;
}
