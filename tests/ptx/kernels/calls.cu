// Functions that stay functions: structures by value, recursion, pointers to locals, early returns.
#include <cassert>
#include <cstdio>

struct Mixed {
  float x, y, z, w;
  int k[3];
};

__device__ __noinline__ Mixed mix(Mixed a, float s) {
  Mixed r = a;
  r.x = a.y * s;
  r.k[1] = a.k[2] + (int)s;
  if (s > 3) return r;
  r.w += a.x;
  return r;
}
__device__ __noinline__ int fibonacci(int n) {
  if (n < 2) return n;
  return fibonacci(n - 1) + fibonacci(n - 2);
}
__device__ __noinline__ void store(int* p, int v) {
  if (v < 2) return;
  *p = v;
}
__device__ __noinline__ float pick(const Mixed& v, int i) {
  const float* f = &v.x;
  return f[i & 3];
}

extern "C" __global__ void calls(const float* x, int* out) {
  int t = threadIdx.x;
  Mixed v{x[t], 2, 3, 4, {t, 2, t}};
  v = mix(v, (float)t);
  int local[4] = {70, 71, 72, 73};
  store(local + (t & 3), fibonacci(t & 7));
  int keep = t * 3;
  int sum = 0;
  if (t & 1) sum = fibonacci(t & 15) * 10;
  out[t] = sum + (int)v.x + (int)v.w + v.k[1] + local[t & 3] + keep + (int)pick(v, t);
  if (t == 5) printf("thread %d has %f\n", t, x[t]);
  assert(x[t] >= 0);
}

typedef int (*Function)(int);
__device__ int twice(int a) { return a * 2; }
__device__ int square(int a) { return a * a; }
__device__ Function table[2] = {twice, square};

extern "C" __global__ void indirect(int* values) {
  values[threadIdx.x] = table[threadIdx.x & 1](values[threadIdx.x]) + 1;
}
