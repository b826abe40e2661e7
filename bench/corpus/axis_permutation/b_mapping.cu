// out[k][i][j] = in[i][j][k] with x, y and z for i, j and k in this order: the slowest axis of the
// input is the fastest of the threads, so that neither loads nor stores are close together.
__global__ void permute_axes(const float* volume, float* permuted, int depth, int height,
                             int width) {
  int z = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int x = blockIdx.z * blockDim.z + threadIdx.z;
  if (z >= depth || y >= height || x >= width) return;
  permuted[(x * depth + z) * height + y] = volume[(z * height + y) * width + x];
}
