/*@regraph
kernel: gather
sizes: {n: 100000, m: 5000}
args:
  table: {shape: [m]}
  index: {shape: [n], init: "int(0,36)"}
tests: [{n: 777, m: 50}, {n: 1, m: 37}]
*/
__global__ void gather(const float* table, const int* index, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[index[i]];
}
