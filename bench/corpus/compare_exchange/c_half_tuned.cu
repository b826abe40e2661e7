// One pass over memory that finishes the merges inside blocks of 512 keys: the block's keys are
// staged in shared memory, then compare-exchange with strides 256, 128, ... 1 and a barrier after
// each.
#define HALF 256
__global__ void merge_in_block(const float* in, float* out, int n) {
  __shared__ float s[2 * HALF];
  int t = threadIdx.x;
  int base = blockIdx.x * 2 * HALF;
  s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 1e30f;
  s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 1e30f;
  __syncthreads();
  for (int stride = HALF; stride > 0; stride /= 2) {
    int lo = t / stride * 2 * stride + t % stride;
    float a = s[lo];
    float b = s[lo + stride];
    if (a > b) {
      s[lo] = b;
      s[lo + stride] = a;
    }
    __syncthreads();
  }
  if (base + 2 * t < n) out[base + 2 * t] = s[2 * t];
  if (base + 2 * t + 1 < n) out[base + 2 * t + 1] = s[2 * t + 1];
}
