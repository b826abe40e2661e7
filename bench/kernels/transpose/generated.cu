// T.permute [1, 0]
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  int v0 = blockIdx.x * 256 + threadIdx.x;
  int v1 = rows * columns;
  if (v0 < v1) {
    int v2 = v0 / columns;
    int v3 = v0 - v2 * columns;
    float v4 = in[v0];
    int v5 = v3 * rows;
    int v6 = v5 + v2;
    out[v6] = v4;
  }
}
