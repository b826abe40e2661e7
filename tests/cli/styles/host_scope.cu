// N is one thing in the kernel's loop, another in a helper of the host, a third where the kernel is
// launched.
__global__ void sums(const float* in, float* out, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float s = 0;
  for (int N = 0; N < 8; N++)
    s += in[i * 8 + N];
  out[i] = s;
}
static int helper() {
  const int N = 77;
  return N;
}
int main() {
  const int N = 300000;
  const int threads = 192;
  float *in = 0, *out = 0;
  sums<<<(N + threads - 1) / threads, threads>>>(in, out, N);
  return helper();
}
