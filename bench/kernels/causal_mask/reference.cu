// Scores are scaled; those of keys behind the query become -10^30.
__global__ void causal_mask(float* scores, float scale, int heads, int length) {
  for (int i = threadIdx.x; i < heads * length * length; i += blockDim.x) {
    int query = i / length % length;
    int key = i % length;
    scores[i] = key > query ? -1.0e30f : (float)((double)scores[i] * (double)scale);
  }
}
