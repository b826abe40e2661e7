// reduce(argmax, axis 1)
__global__ void arg_max(const float* x, int* index, int rows, int columns) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= rows) return;
  int base = x0 * columns;
  float acc_value = -INFINITY;
  int acc_index = 0;
  int r = 0;
  for (;;) {
    if (r >= columns) break;
    float tmp0 = x[base + r];
    bool tmp1 = tmp0 > acc_value;
    acc_value = tmp1 ? tmp0 : acc_value;
    acc_index = tmp1 ? r : acc_index;
    r = r + 1;
  }
  index[x0] = acc_index;
}
