// Second-order wave step on a framed box. threadIdx.x takes the middle axis of the storage (height)
// and y the fastest one (width), so each access of a warp touches as many lines as it has threads.
__global__ void wave_step(const float* now, const float* old, float* next, int depth, int height,
                          int width, float c2) {
  int h = blockIdx.x * blockDim.x + threadIdx.x;
  int w = blockIdx.y * blockDim.y + threadIdx.y;
  int d = blockIdx.z * blockDim.z + threadIdx.z;
  if (d >= depth || h >= height || w >= width) return;
  int pw = width + 2;
  int ps = (height + 2) * pw;
  int at = (d + 1) * ps + (h + 1) * pw + w + 1;
  float lap = now[at - 1] + now[at + 1] + now[at - pw] + now[at + pw] + now[at - ps] +
              now[at + ps] - 6.0f * now[at];
  next[(d * height + h) * width + w] =
      2.0f * now[at] - old[(d * height + h) * width + w] + c2 * lap;
}
