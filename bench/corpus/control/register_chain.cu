// Control: four independent chains of multiply-adds in registers, unrolled by hand, one load and
// one store a thread. Arithmetic is the limit.
#define STEP4    \
  a = a * u + v; \
  b = b * v + w; \
  c = c * w + u; \
  d = d * u + w;
#define STEP16 STEP4 STEP4 STEP4 STEP4
#define STEP64 STEP16 STEP16 STEP16 STEP16
__global__ void chain(const float* __restrict__ seed, float* __restrict__ end, int n, float u,
                      float v, float w) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = seed[i];
  float b = a + 1.0f;
  float c = a + 2.0f;
  float d = a + 3.0f;
  STEP64
  STEP64
  STEP64
  STEP64
  end[i] = a + b + c + d;
}
