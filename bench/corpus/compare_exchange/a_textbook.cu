// One pass of a bitonic sorting network on integers: a thread an element, of which every second one
// (the upper partner) has nothing to do.
__global__ void bitonic_pass(int* keys, int n, int stride, int stage) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int partner = i ^ stride;
  if (i < n && partner > i && partner < n) {
    int a = keys[i];
    int b = keys[partner];
    bool up = (i & stage) == 0;
    if ((a > b) == up) {
      keys[i] = b;
      keys[partner] = a;
    }
  }
}
