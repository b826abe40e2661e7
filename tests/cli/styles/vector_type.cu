__global__ void norms(const float4* v, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float4 q = v[i];
    out[i] = sqrtf(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  }
}
