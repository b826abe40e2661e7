// transpose(0, 2, 3, 1)
__global__ void permute_nchw_nhwc(const float* in, float* out, int batch, int channels, int height, int width) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  int numel = batch * channels * height * width;
  if (idx >= numel) return;
  int x3 = idx % width;
  int t0 = idx / width;
  int x2 = t0 % height;
  int t1 = t0 / height;
  int x1 = t1 % channels;
  int x0 = t1 / channels;
  float tmp0 = in[idx];
  out[((x0 * height + x2) * width + x3) * channels + x1] = tmp0;
}
