// Upper half of A^T A in double from a flat index; the mirrored element is stored as well.
// Half of the threads leave at once, and the mirrored stores are a row apart.
__global__ void gram_symmetric(const double* data, double* out, int samples, int features) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= features * features) return;
  int p = t / features;
  int q = t % features;
  if (q < p) return;
  double acc = 0.0;
  for (int s = 0; s < samples; s++)
    acc += data[s * features + p] * data[s * features + q];
  out[p * features + q] = acc;
  out[q * features + p] = acc;
}
