// Shallow diffusion step with a conductivity field. The block's points go through a shared tile
// with a rim that threads at the block's edge load; two points a thread, one below the other.
#define BW 32
#define BH 8
__global__ void diffuse(const float* temp, const float* cond, float* next, int w, int h, float dt) {
  __shared__ float s[2 * BH + 2][BW + 2];
  int x = blockIdx.x * BW + threadIdx.x;
  int lx = threadIdx.x + 1;
  int cx = min(x, w - 1);
  for (int half = 0; half < 2; half++) {
    int ly = threadIdx.y + half * BH + 1;
    int y = blockIdx.y * 2 * BH + ly - 1;
    int cy = min(y, h - 1);
    s[ly][lx] = temp[cy * w + cx];
    if (threadIdx.x == 0) s[ly][0] = temp[cy * w + max(cx - 1, 0)];
    if (threadIdx.x == BW - 1) s[ly][BW + 1] = temp[cy * w + min(x + 1, w - 1)];
    if (ly == 1) s[0][lx] = temp[max(cy - 1, 0) * w + cx];
    if (ly == 2 * BH) s[2 * BH + 1][lx] = temp[min(y + 1, h - 1) * w + cx];
  }
  __syncthreads();
  for (int half = 0; half < 2; half++) {
    int ly = threadIdx.y + half * BH + 1;
    int y = blockIdx.y * 2 * BH + ly - 1;
    if (x < w && y < h) {
      float flow = s[ly][lx - 1] + s[ly][lx + 1] + s[ly - 1][lx] + s[ly + 1][lx] - 4.0f * s[ly][lx];
      next[y * w + x] = s[ly][lx] + dt * cond[y * w + x] * flow;
    }
  }
}
