#include <cuda_pipeline.h>
// Copies that read fewer bytes than they write, as at the edge of a matrix.
extern "C" __global__ void copy_with_zeros(const float* in, float* out, int n) {
  __shared__ __align__(16) float tile[128];
  int first = threadIdx.x * 4;
  int valid = min(max(n - first, 0), 4);
  __pipeline_memcpy_async(tile + first, in + (valid > 0 ? first : 0), 16, 16 - 4 * valid);
  __pipeline_commit();
  __pipeline_wait_prior(0);
  __syncthreads();
  for (int i = threadIdx.x; i < 128; i += 32)
    out[i] = tile[i];
}
