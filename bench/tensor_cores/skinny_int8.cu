// A quantised layer where a language model decodes: few rows, weights an output a line. A thread an element.
__global__ void product(const signed char* a, const signed char* b, int* c, int rows, int columns, int depth) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= rows || column >= columns) return;
  int sum = 0;
  for (int k = 0; k < depth; ++k) sum += (int)a[row * depth + k] * (int)b[column * depth + k];
  c[row * columns + column] = sum;
}
