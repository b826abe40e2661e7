struct Gaussian {
  float width;
  __device__ float operator()(float x) const { return expf(-x * x / width); }
};
template <class F>
__global__ void apply(const float* in, float* out, int n, float width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  F f{width};
  if (i < n) out[i] = f(in[i]);
}
int main() {
  float *in, *out;
  apply<Gaussian><<<512, 256>>>(in, out, 131072, 2.0f);
}
