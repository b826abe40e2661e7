// Streaming and collision on a ring of cells for many independent rings, three directions, in
// double: a flat index with / and %, cell-major storage of the populations, so loads are 24 bytes
// apart.
__global__ void ring_step(const double* pop, double* out, int rings, int cells, double omega) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= rings * cells) return;
  int ring = id / cells;
  int i = id % cells;
  int before = ring * cells + (i + cells - 1) % cells;
  int after = ring * cells + (i + 1) % cells;
  double rest = pop[3 * id];
  double forward = pop[3 * before + 1];
  double backward = pop[3 * after + 2];
  double mass = rest + forward + backward;
  double flow = forward - backward;
  out[3 * id] = rest + omega * (2.0 * mass / 3.0 - rest);
  out[3 * id + 1] = forward + omega * (mass / 6.0 + flow / 2.0 - forward);
  out[3 * id + 2] = backward + omega * (mass / 6.0 - flow / 2.0 - backward);
}
