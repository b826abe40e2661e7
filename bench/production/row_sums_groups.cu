#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void k(float* y, const float* x, int width) {
  cg::thread_block block = cg::this_thread_block();
  __shared__ float part[256];
  float s = 0.0f;
  for (int c = block.thread_rank(); c < width; c += block.size()) s += x[blockIdx.x * width + c];
  part[block.thread_rank()] = s;
  block.sync();
  for (int d = 128; d > 0; d /= 2) {
    if (block.thread_rank() < d) part[block.thread_rank()] += part[block.thread_rank() + d];
    block.sync();
  }
  if (block.thread_rank() == 0) y[blockIdx.x] = part[0];
}
void launch(float* y, const float* x, int rows, int width) { k<<<rows, 256>>>(y, x, width); }
