// Gram matrix of vectors that lie one after the other (A in column-major order). The row of G
// follows threadIdx.x: stores are a row apart, and so are the loads of one of the two vectors.
__global__ void gram_of_vectors(const float* vectors, float* products, int count, int length) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int second = blockIdx.y * blockDim.y + threadIdx.y;
  if (first >= count) return;
  if (second >= count) return;
  float value = 0.0f;
  for (int e = 0; e < length; e++) {
    value += vectors[first * length + e] * vectors[second * length + e];
  }
  products[first * count + second] = value;
}
