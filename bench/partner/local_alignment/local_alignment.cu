// Best local alignment score of many pairs of sequences (match +2, mismatch -1, gap -1).
//
// First version: one thread a pair, one row of the table at a time in global scratch memory.

#define MATCH 2
#define MISMATCH (-1)
#define GAP (-1)

__device__ int larger(int a, int b) { return a > b ? a : b; }

__global__ void local_alignment(const int* first, const int* second, int* row, int* score,
                                int pairs, int length) {
  int pair = blockIdx.x * blockDim.x + threadIdx.x;
  if (pair >= pairs) return;
  for (int j = 0; j <= length; ++j) row[pair * (length + 1) + j] = 0;
  int best = 0;
  for (int i = 0; i < length; ++i) {
    int diagonal = 0;
    for (int j = 0; j < length; ++j) {
      int match = first[pair * length + i] == second[pair * length + j] ? MATCH : MISMATCH;
      int value = diagonal + match;
      value = larger(value, row[pair * (length + 1) + j + 1] + GAP);
      value = larger(value, row[pair * (length + 1) + j] + GAP);
      value = larger(value, 0);
      diagonal = row[pair * (length + 1) + j + 1];
      row[pair * (length + 1) + j + 1] = value;
      best = larger(best, value);
    }
  }
  score[pair] = best;
}
