// One pass of odd-even merging down the columns of a table with keys and payloads: a flat index
// over pairs, split with / and % so that the row of a pair runs fastest while rows are far apart.
__global__ void exchange_columns(double* keys, int* payload, unsigned rows, unsigned cols,
                                 unsigned gap) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned half = rows / 2;
  if (id >= half * cols) return;
  unsigned pair = id % half;
  unsigned col = id / half;
  unsigned top = pair / gap * 2 * gap + pair % gap;
  unsigned low = top + gap;
  if (low >= rows) return;
  double a = keys[top * cols + col];
  double b = keys[low * cols + col];
  if (b < a) {
    keys[top * cols + col] = b;
    keys[low * cols + col] = a;
    int p = payload[top * cols + col];
    payload[top * cols + col] = payload[low * cols + col];
    payload[low * cols + col] = p;
  }
}
