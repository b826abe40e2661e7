// Elements j apart are put in order, upwards or downwards by bit k of their index.
__global__ void bitonic_step(float* data, int n, int j, int k) {
  for (int i = 0; i < n; ++i) {
    int other = i ^ j;
    if (other <= i || other >= n) continue;
    bool upwards = (i & k) == 0;
    if (upwards ? data[i] > data[other] : data[i] < data[other]) {
      float held = data[i];
      data[i] = data[other];
      data[other] = held;
    }
  }
}
