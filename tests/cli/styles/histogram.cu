/*@regraph
args: {bins: {shape: [64], dir: inout, init: "int(0,3)"}, data: {init: "int(0,63)"}}
*/
__global__ void histogram(const unsigned char* data, unsigned int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[data[i]], 1u);
}
