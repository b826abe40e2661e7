// Assembly with registers of its own.
__global__ void k(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    float y;
    asm("{\n\t.reg .f32 t;\n\tmov.f32 t, 0f40000000;\n\tmul.rn.f32 %0, %1, t;\n\t}" : "=f"(y) : "f"(in[i]));
    out[i] = y;
  }
}
