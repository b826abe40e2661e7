// Particles as records of eight floats; a thread moves one coordinate of one particle. The particle
// is the x index and the coordinate the y index, and each coordinate's thread adds up the energy.
__global__ void advance_coordinates(const float* records, float* places, float* energies, float dt,
                                    int particles, int axes) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  int axis = blockIdx.y * blockDim.y + threadIdx.y;
  if (p < particles && axis < axes) {
    places[p * axes + axis] = records[p * 8 + axis] + dt * records[p * 8 + 4 + axis];
    float square = 0.0f;
    for (int k = 0; k < 3; ++k) {
      square += records[p * 8 + 4 + k] * records[p * 8 + 4 + k];
    }
    if (axis == 0) {
      energies[p] = 0.5f * records[p * 8 + 3] * square;
    }
  }
}
