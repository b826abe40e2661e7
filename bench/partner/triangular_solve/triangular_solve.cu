// Solves L x = b for many small lower triangular matrices L, row-major.
//
// First version: one thread a system, forward substitution in global memory.

__global__ void triangular_solve(const float* lower, const float* right, float* solution,
                                 int systems, int n) {
  int system = blockIdx.x * blockDim.x + threadIdx.x;
  if (system >= systems) return;
  for (int i = 0; i < n; ++i) {
    float value = right[system * n + i];
    for (int j = 0; j < i; ++j) value -= lower[(system * n + i) * n + j] * solution[system * n + j];
    solution[system * n + i] = value / lower[(system * n + i) * n + i];
  }
}
