// Inclusive prefix sums along the rows, a block of 128 threads a row that goes along it in pieces
// of 128: doubling distances in two shared arrays, with a barrier and full work at each.
#define PIECE 128

__global__ void prefix_doubling(const float* __restrict__ in, float* __restrict__ out,
                                int columns) {
  __shared__ float lane[2][PIECE];
  int t = threadIdx.x;
  float before = 0.0f;
  for (int start = 0; start < columns; start += PIECE) {
    int side = 0;
    float own = 0.0f;
    if (start + t < columns) {
      own = in[blockIdx.x * columns + start + t];
    }
    lane[0][t] = own;
    __syncthreads();
    for (int d = 1; d < PIECE; d *= 2) {
      float sum = lane[side][t];
      if (t >= d) {
        sum += lane[side][t - d];
      }
      lane[1 - side][t] = sum;
      side = 1 - side;
      __syncthreads();
    }
    if (start + t < columns) {
      out[blockIdx.x * columns + start + t] = before + lane[side][t];
    }
    before += lane[side][PIECE - 1];
    __syncthreads();
  }
}
