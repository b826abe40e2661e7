typedef enum Mode { kCopy, kDouble = 4, kNegate } Mode;

template <int MODE>
__global__ void by_mode(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = MODE == kDouble ? 2.0f * in[i] : MODE == kNegate ? -in[i] : in[i];
}

void run(const float* in, float* out, int n) { by_mode<kNegate><<<(n + 255) / 256, 256>>>(in, out, n); }
