// Squared distances between the points of one cloud, coordinates stored axis by axis. threadIdx.x
// picks the row of the result, so that each store of a warp goes to as many lines as it has
// threads.
__global__ void self_distances(const float* cloud, float* square, int points, int axes) {
  const int p = threadIdx.x + blockIdx.x * blockDim.x;
  const int q = threadIdx.y + blockIdx.y * blockDim.y;
  if (p >= points || q >= points) return;
  float d2 = 0.0f;
  for (int axis = 0; axis < axes; ++axis) {
    const float delta = cloud[axis * points + p] - cloud[axis * points + q];
    d2 = fmaf(delta, delta, d2);
  }
  square[p * points + q] = d2;
}
