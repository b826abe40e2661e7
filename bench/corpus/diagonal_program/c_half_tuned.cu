// One diagonal of a global alignment with table of weights, three rolling diagonals in float; the
// cells of a block and the one before are staged in shared memory, the weights stay in global
// memory.
#define CELLS 128
__global__ void score_diagonal(const float* older, const float* newer, const int* a, const int* b,
                               const float* weight, float* result, int cells, int diagonal,
                               int letters, float penalty) {
  __shared__ float prev[CELLS + 1];
  int i = blockIdx.x * CELLS + threadIdx.x;
  if (i <= cells) prev[threadIdx.x] = newer[i];
  if (threadIdx.x == CELLS - 1 && i + 1 <= cells) prev[CELLS] = newer[i + 1];
  __syncthreads();
  if (i < cells) {
    int j = diagonal - i;
    float value = -1.0f;
    if (j >= 0 && j < cells) {
      value = older[i] + weight[(a[i] % letters) * letters + b[j] % letters];
      value = fmaxf(value, prev[threadIdx.x] - penalty);
      value = fmaxf(value, prev[threadIdx.x + 1] - penalty);
    }
    result[i] = value;
  }
}
