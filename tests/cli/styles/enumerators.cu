namespace modes {
enum class Mode { plain, twice };
}

__device__ float use(float x, modes::Mode mode) { return mode == modes::Mode::twice ? 2.0f * x : x; }

__global__ void apply(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = use(x[i], modes::Mode::twice);
}
