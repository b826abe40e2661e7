// fused: neg exp add reciprocal mul mul add
__global__ void gated_map(const float* gate, const float* up, const float* residual, float* out, int n) {
  long long idx = (long long)blockIdx.x * (long long)blockDim.x + (long long)threadIdx.x;
  if (idx < (long long)n) {
    float tmp0 = gate[idx];
    float tmp1 = -tmp0;
    float tmp2 = expf(tmp1);
    float tmp3 = tmp2 + 1.0f;
    float tmp4 = 1.0f / tmp3;
    float tmp5 = tmp0 * tmp4;
    float tmp6 = up[idx];
    float tmp7 = tmp5 * tmp6;
    float tmp8 = residual[idx];
    float tmp9 = tmp7 + tmp8;
    out[idx] = tmp9;
  }
}
