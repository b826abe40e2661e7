// Particles as records of eight floats. The block copies its records to shared memory in order, and
// then each thread reads its own there: eight threads meet in every fourth bank.
#define BLOCK 128
#define FIELDS 8

__global__ void advance_staged(const float* __restrict__ records, float* __restrict__ places,
                               float* __restrict__ energies, float dt, int particles) {
  __shared__ float staged[BLOCK * FIELDS];
  int begin = blockIdx.x * BLOCK;
  for (int k = threadIdx.x; k < BLOCK * FIELDS; k += BLOCK) {
    if (begin * FIELDS + k < particles * FIELDS) {
      staged[k] = records[begin * FIELDS + k];
    }
  }
  __syncthreads();
  int own = threadIdx.x * FIELDS;
  int p = begin + threadIdx.x;
  if (p < particles) {
    float square = 0.0f;
    for (int a = 0; a < 3; ++a) {
      float v = staged[own + 4 + a];
      square += v * v;
      places[p * 3 + a] = staged[own + a] + dt * v;
    }
    energies[p] = 0.5f * staged[own + 3] * square;
  }
}
