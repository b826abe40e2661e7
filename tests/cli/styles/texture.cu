texture<float, 1, cudaReadModeElementType> source_texture;
__global__ void fetch(float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch(source_texture, i);
}
