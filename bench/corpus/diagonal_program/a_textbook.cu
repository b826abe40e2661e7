// One anti-diagonal of the edit distance of many pairs of words, full tables in memory: a thread a
// cell. Cells of a diagonal are nearly a row apart, so no two loads of a warp share a line.
__global__ void edit_diagonal(const int* left, const int* right, int* table, int pairs, int m,
                              int n, int diagonal) {
  int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
  int pair = blockIdx.y;
  int j = diagonal - i;
  if (pair < pairs && i <= m && j >= 1 && j <= n) {
    int* t = table + pair * (m + 1) * (n + 1);
    int change = left[pair * m + i - 1] == right[pair * n + j - 1] ? 0 : 1;
    int best = t[(i - 1) * (n + 1) + j - 1] + change;
    best = min(best, t[(i - 1) * (n + 1) + j] + 1);
    best = min(best, t[i * (n + 1) + j - 1] + 1);
    t[i * (n + 1) + j] = best;
  }
}
