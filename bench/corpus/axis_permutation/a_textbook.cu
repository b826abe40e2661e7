// Moves the last axis of a 3-D array to the front: out[k][i][j] = in[i][j][k]. One thread an
// element in blocks of 16 x 16 of one plane, x along the input's last axis: stores are a plane
// apart.
__global__ void last_to_front(const float* in, float* out, int ni, int nj, int nk) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  int i = blockIdx.z;
  if (j < nj && k < nk) {
    out[(k * ni + i) * nj + j] = in[(i * nj + j) * nk + k];
  }
}
