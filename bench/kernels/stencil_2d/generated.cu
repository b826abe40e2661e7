// stencil [(0,-1), (0,1), (-1,0), (1,0), (0,0)], boundary: copy
__global__ void stencil_2d(const float* in, float* out, int height, int width) {
  int v0 = blockIdx.x * blockDim.x + threadIdx.x;
  if (v0 >= height * width) return;
  int v1 = v0 / width;
  int v2 = v0 % width;
  float v3 = in[v0];
  bool v4 = v1 == 0;
  bool v5 = v1 == height - 1;
  bool v6 = v2 == 0;
  bool v7 = v2 == width - 1;
  if (v4 || v5 || v6 || v7) {
    out[v0] = v3;
    return;
  }
  float v8 = in[v0 - 1];
  float v9 = in[v0 + 1];
  float v10 = in[v0 - width];
  float v11 = in[v0 + width];
  float v12 = v8 + v9;
  float v13 = v12 + v10;
  float v14 = v13 + v11;
  float v15 = v14 * 0.125f;
  float v16 = v3 * 0.5f;
  float v17 = v16 + v15;
  out[v0] = v17;
}
