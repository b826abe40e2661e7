// The rows of a matrix are put into another order. The row is the x index, so neighbouring threads
// read a row apart and write to rows that have nothing to do with each other.
__global__ void scatter_swapped(const float* from, const int* slots, float* to, int rows,
                                int columns) {
  int line = blockIdx.x * blockDim.x + threadIdx.x;
  int item = blockIdx.y * blockDim.y + threadIdx.y;
  if (line >= rows || item >= columns) return;
  int target = (slots[line] * 17 + 5) % rows;
  to[target * columns + item] = from[line * columns + item];
}
