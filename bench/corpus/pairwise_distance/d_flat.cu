// Distances of double-precision points, flat index over the matrix with / and %, early return; the
// remainder gives the query, the quotient the reference, against the order of the storage.
__global__ void flat_distances(const double* queries, const double* refs, double* table,
                               unsigned nq, unsigned nr, unsigned width) {
  unsigned g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= nq * nr) return;
  unsigned q = g % nq;
  unsigned r = g / nq;
  double total = 0.0;
  unsigned k = 0;
  while (k < width) {
    double gap = queries[q * width + k] - refs[r * width + k];
    total += gap * gap;
    k++;
  }
  table[q * nr + r] = sqrt(total);
}
