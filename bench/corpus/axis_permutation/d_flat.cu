// out[k][i][j] = in[i][j][k] by a flat index over the result, taken apart by two divisions; loads
// of neighbouring threads are one input row apart.
__global__ void permute_flat(const float* in, float* out, int ni, int nj, int nk) {
  int position = blockIdx.x * blockDim.x + threadIdx.x;
  if (position >= ni * nj * nk) return;
  int j = position % nj;
  int rest = position / nj;
  int i = rest % ni;
  int k = rest / ni;
  out[position] = in[(i * nj + j) * nk + k];
}
