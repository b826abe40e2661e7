// What CUDA's own mathematics compiles to: polynomial chains, table look-ups in local memory, slow paths.
extern "C" __global__ void math_mix(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = in[i];
  out[i] = sinf(x) + cosf(x * 1e5f) + expf(x) + logf(x) + powf(x, 1.7f) + tanhf(x) + erff(x) +
           x / 3.7f + sqrtf(x) + fmodf(x, 2.0f) + atan2f(x, 3.0f) + roundf(x);
}
