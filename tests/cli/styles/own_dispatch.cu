template <typename T, typename A>
__global__ void accumulate(const T* in, A* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] += static_cast<A>(in[i]);
}

void run(int type, const void* in, void* out, int n) {
  MY_DISPATCH_IN_OUT(type, [&] {
    accumulate<scalar_t_in, scalar_t_out><<<(n + 255) / 256, 256>>>((const scalar_t_in*)in, (scalar_t_out*)out, n);
  });
}
