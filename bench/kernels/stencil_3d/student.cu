// 7-point stencil
__global__ void stencil_3d(const float* in, float* out, int depth, int height, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x < width && y < height && z < depth) {
    int i = (z * height + y) * width + x;
    float neighbours = 0.0f;
    if (x > 0) neighbours += in[i - 1];
    if (x < width - 1) neighbours += in[i + 1];
    if (y > 0) neighbours += in[i - width];
    if (y < height - 1) neighbours += in[i + width];
    if (z > 0) neighbours += in[i - width * height];
    if (z < depth - 1) neighbours += in[i + width * height];
    out[i] = 0.4f * in[i] + 0.1f * neighbours;
  }
}
