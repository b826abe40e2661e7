// Potential in a box, charges fetched in groups of 64 into shared memory; each thread computes two
// points next to each other in x, which makes its stores skip every second element.
#define GROUP 64
__global__ void box_potential(const float4* atoms, float* map, int n, int sx, int sy, int sz,
                              float step) {
  __shared__ float4 part[GROUP];
  int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  int z = blockIdx.z;
  int lane = threadIdx.y * blockDim.x + threadIdx.x;
  float first = 0.0f, second = 0.0f;
  for (int from = 0; from < n; from += GROUP) {
    if (lane < GROUP) {
      part[lane] = from + lane < n ? atoms[from + lane] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    __syncthreads();
    for (int a = 0; a < GROUP; a++) {
      float dy = y * step - part[a].y;
      float dz = z * step - part[a].z;
      float dx = x * step - part[a].x;
      float yz = dy * dy + dz * dz + 0.05f;
      first += part[a].w * rsqrtf(dx * dx + yz);
      dx += step;
      second += part[a].w * rsqrtf(dx * dx + yz);
    }
    __syncthreads();
  }
  if (x < sx && y < sy) map[(z * sy + y) * sx + x] = first;
  if (x + 1 < sx && y < sy) map[(z * sy + y) * sx + x + 1] = second;
}
