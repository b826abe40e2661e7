// Scales attention scores and hides the future.
__global__ void causal_mask(float* scores, float scale, int heads, int length) {
  int key = blockIdx.x * blockDim.x + threadIdx.x;
  int query = blockIdx.y * blockDim.y + threadIdx.y;
  int head = blockIdx.z;
  if (key < length && query < length) {
    int index = (head * length + query) * length + key;
    if (key > query) {
      scores[index] = -1.0e30f;
    } else {
      scores[index] = scores[index] * scale;
    }
  }
}
