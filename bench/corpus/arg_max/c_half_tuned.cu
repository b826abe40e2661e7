// The column of the first largest element of every row with a block a row: value and column of each
// thread's best go to shared memory, where a tree compares pairs at every level.
#define THREADS 128

__global__ void first_largest_tree(const float* __restrict__ scores, int* __restrict__ winner,
                                   int columns) {
  __shared__ float value[THREADS];
  __shared__ int place[THREADS];
  const float* row = scores + blockIdx.x * columns;
  int t = threadIdx.x;
  value[t] = -3.0e38f;
  place[t] = columns;
  for (int c = t; c < columns; c += THREADS) {
    if (row[c] > value[t]) {
      value[t] = row[c];
      place[t] = c;
    }
  }
  __syncthreads();
  for (int s = THREADS / 2; s > 0; s /= 2) {
    if (t < s) {
      float other = value[t + s];
      if (other > value[t] || (other == value[t] && place[t + s] < place[t])) {
        value[t] = other;
        place[t] = place[t + s];
      }
    }
    __syncthreads();
  }
  if (t == 0) winner[blockIdx.x] = place[0];
}
