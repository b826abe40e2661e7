struct Params {
  float a;
  int n;
};
__global__ void with_struct(float* data, Params p) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < p.n) data[i] *= p.a;
}
