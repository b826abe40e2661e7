// T.permute [1, 0]
__global__ void transpose(const float* arg0, float* arg1, int arg2, int arg3) {
  int v0 = blockIdx.x * 256 + threadIdx.x;
  int v1 = arg2 * arg3;
  if (v0 < v1) {
    int v2 = v0 / arg3;
    int v3 = v0 - v2 * arg3;
    float v4 = arg0[v0];
    int v5 = v3 * arg2;
    int v6 = v5 + v2;
    arg1[v6] = v4;
  }
}
