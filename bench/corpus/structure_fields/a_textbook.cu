// Particles lie as records of eight floats (place, mass, velocity, charge) in one array; one thread
// a particle moves it and finds its kinetic energy. Every field is read with a stride of 32 bytes.
__global__ void advance_particles(const float* records, float* places, float* energies, float dt,
                                  int particles) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p < particles) {
    float vx = records[p * 8 + 4];
    float vy = records[p * 8 + 5];
    float vz = records[p * 8 + 6];
    places[p * 3] = records[p * 8] + dt * vx;
    places[p * 3 + 1] = records[p * 8 + 1] + dt * vy;
    places[p * 3 + 2] = records[p * 8 + 2] + dt * vz;
    energies[p] = 0.5f * records[p * 8 + 3] * (vx * vx + vy * vy + vz * vz);
  }
}
