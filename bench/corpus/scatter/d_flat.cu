// The rows of a matrix of integers are put into another order, by a flat index; every thread
// divides to find its row, and once more for the row's place.
__global__ void scatter_flat(const int* from, const int* slots, int* to, unsigned rows,
                             unsigned columns) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= rows * columns) return;
  unsigned r = id / columns;
  unsigned c = id - r * columns;
  unsigned place = ((unsigned)slots[r] * 17u + 5u) % rows;
  to[place * columns + c] = from[id];
}
