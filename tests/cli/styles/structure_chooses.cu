// Integers of a structure choose places of another buffer.
struct Cell {
  int next;
  float weight;
};

__global__ void walk_cells(const Cell* cells, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = cells[i].weight * x[3 * cells[i].next + 1];
}
