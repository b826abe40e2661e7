// Bias and GELU, a thread keeps the bias of its column in a register and goes down a stripe of 16
// rows; blocks of 64 threads cover 64 columns of one stripe.
#define STRIPE 16

__global__ void bias_gelu_stripes(const float* __restrict__ in, const float* __restrict__ bias,
                                  float* __restrict__ out, int rows, int columns) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  const int top = blockIdx.y * STRIPE;
  if (c < columns) {
    const float own = bias[c];
    for (int s = 0; s < STRIPE; s++) {
      if (top + s < rows) {
        float v = in[(top + s) * columns + c] + own;
        float cube = v * v * v;
        out[(top + s) * columns + c] =
            0.5f * v * (1.0f + tanhf(0.7978845608f * (v + 0.044715f * cube)));
      }
    }
  }
}
