// Particles as records of eight floats behind access macros; a thread takes four particles that lie
// one after the other, so that a warp spreads over 4 KiB with each load.
#define FIELD(record, number) (records[(record)*8 + (number)])
#define PLACE(record, number) (places[(record)*3 + (number)])
#define SQUARE(v) ((v) * (v))

__global__ void advance_four(const float* records, float* places, float* energies, float dt,
                             int particles) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  for (int q = 0; q < 4; ++q) {
    int id = 4 * t + q;
    if (id < particles) {
      PLACE(id, 0) = FIELD(id, 0) + dt * FIELD(id, 4);
      PLACE(id, 1) = FIELD(id, 1) + dt * FIELD(id, 5);
      PLACE(id, 2) = FIELD(id, 2) + dt * FIELD(id, 6);
      float square = SQUARE(FIELD(id, 4)) + SQUARE(FIELD(id, 5)) + SQUARE(FIELD(id, 6));
      energies[id] = 0.5f * FIELD(id, 3) * square;
    }
  }
}
