// scan(add, axis 1, inclusive)
__global__ void prefix_rows(const float* x, float* out, int rows, int columns) {
  int x0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (x0 >= rows) return;
  float acc = 0.0f;
  int at = x0 * columns;
  int end = at + columns;
  for (;;) {
    if (at >= end) break;
    float tmp0 = x[at];
    acc = acc + tmp0;
    out[at] = acc;
    at = at + 1;
  }
}
