#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void two_phases(const float* x, float* parts, float* y, int n) {
  cg::grid_group grid = cg::this_grid();
  float s = 0.0f;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) s += x[i];
  parts[grid.thread_rank()] = s;
  grid.sync();
  if (grid.thread_rank() == 0) y[0] = parts[0] + parts[1];
}
