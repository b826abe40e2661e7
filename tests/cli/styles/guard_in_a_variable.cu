__global__ void shift_left(const float* in, float* out, const int n) {
  const int tid = threadIdx.x + blockIdx.x * blockDim.x;
  const bool inside = tid < n;
  const bool has_next = tid + 1 < n;
  if (inside) out[tid] = has_next ? in[tid + 1] : 0.0f;
}
