// A bias row is added to a matrix and the tanh form of GELU applied; x is the column, one thread an
// element, the bias is read again by every row.
__global__ void bias_gelu(const float* in, const float* bias, float* out, int rows, int columns) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    float v = in[row * columns + column] + bias[column];
    float inner = 0.7978845608f * (v + 0.044715f * v * v * v);
    out[row * columns + column] = 0.5f * v * (1.0f + tanhf(inner));
  }
}
