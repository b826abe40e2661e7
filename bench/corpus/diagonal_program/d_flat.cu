// Longest common subsequence, one anti-diagonal for a batch: a flat index over all cells of all
// tables with / and %; cells that are not on the diagonal return at once, which is nearly all of
// them.
__global__ void lcs_diagonal(const int* a, const int* b, int* length, unsigned batch, unsigned m,
                             unsigned n, unsigned d) {
  unsigned id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= batch * m * n) return;
  unsigned j = id % n + 1;
  unsigned i = id / n % m + 1;
  if (i + j != d) return;
  unsigned which = id / (m * n);
  unsigned at = (which * (m + 1) + i) * (n + 1) + j;
  int up = length[at - n - 1];
  int side = length[at - 1];
  int longest = up > side ? up : side;
  if (a[which * m + i - 1] == b[which * n + j - 1]) longest = length[at - n - 2] + 1;
  length[at] = longest;
}
