// One diagonal of a local alignment score for many pairs: only three diagonals are kept. A thread
// does the whole diagonal of its pair, and pairs are stored one after the other.
__global__ void align_diagonal(const int* before2, const int* before1, const int* similarity,
                               int* now, int pairs, int cells, int gap) {
  int p = blockIdx.x * blockDim.x + threadIdx.x;
  if (p >= pairs) return;
  for (int c = 0; c < cells; ++c) {
    int score = before2[p * cells + c] + similarity[p * cells + c];
    int skip = before1[p * cells + c] - gap;
    if (c > 0) skip = max(skip, before1[p * cells + c - 1] - gap);
    now[p * cells + c] = max(0, max(score, skip));
  }
}
