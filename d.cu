#include <cuda_fp16.h>
__inline__ __device__ float tanh_opt(float x) { float r; asm("tanh.approx.f32 %0,%1; \n\t" : "=f"(r) : "f"(x)); return r; }
template <typename T> struct Act { static __device__ T apply(const T& v) { float2 t = __half22float2(v); t.x = tanh_opt(t.y); return __float22half2_rn(t); } };
__global__ void k(half2* out, int n) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id < n) { half2 val; val = out[id]; val = Act<half2>::apply(val); out[id] = val; }
}
