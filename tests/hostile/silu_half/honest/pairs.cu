// Two columns at a time, packed by one conversion.
#include <cuda_fp16.h>
__global__ void k(const __half* in, __half* out, int T, int D) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int pairs = (D + 1) / 2;
  if (i >= T * pairs) return;
  int token = i / pairs, column = i % pairs * 2;
  const __half* gates = in + token * 2 * D + column;
  bool both = column + 1 < D;
  float2 gate = make_float2(__half2float(gates[0]), both ? __half2float(gates[1]) : 0.0f);
  float2 up = make_float2(__half2float(gates[D]), both ? __half2float(gates[D + 1]) : 0.0f);
  __half2 result = __floats2half2_rn(gate.x / (1.0f + expf(-gate.x)) * up.x, gate.y / (1.0f + expf(-gate.y)) * up.y);
  out[token * D + column] = result.x;
  if (both) out[token * D + column + 1] = result.y;
}
