// Attention of one query row a head, one block of 64 threads a head: scores in shared memory,
// maximum and sum by trees with a barrier a level, then each thread mixes one feature. Keys are
// read with threads a whole key apart.
#define LANES 64
__global__ void decode_head(const float* q, const float* k, const float* v, float* o, int length,
                            int dim, float scale) {
  __shared__ float weight[LANES];
  __shared__ float work[LANES];
  int t = threadIdx.x;
  int head = blockIdx.x;
  float s = -1e30f;
  if (t < length) {
    float dot = 0.0f;
    for (int d = 0; d < dim; d++)
      dot += q[head * dim + d] * k[(head * length + t) * dim + d];
    s = dot * scale;
  }
  work[t] = s;
  __syncthreads();
  for (int half = LANES / 2; half > 0; half /= 2) {
    if (t < half) work[t] = fmaxf(work[t], work[t + half]);
    __syncthreads();
  }
  float top = work[0];
  __syncthreads();
  float e = t < length ? expf(s - top) : 0.0f;
  weight[t] = e;
  work[t] = e;
  __syncthreads();
  for (int half = LANES / 2; half > 0; half /= 2) {
    if (t < half) work[t] += work[t + half];
    __syncthreads();
  }
  float total = work[0];
  if (t < dim) {
    float mix = 0.0f;
    for (int j = 0; j < length; j++)
      mix += weight[j] * v[(head * length + j) * dim + t];
    o[head * dim + t] = mix / total;
  }
}
