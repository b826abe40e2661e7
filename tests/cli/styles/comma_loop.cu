__global__ void palindrome(const char* text, int* same, int length, int rows) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int ok = 1;
  for (int i = 0, j = length - 1; i < j; i++, j--)
    if (text[r * length + i] != text[r * length + j]) ok = 0;
  same[r] = ok;
}
