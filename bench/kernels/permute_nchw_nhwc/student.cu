// Changes the layout of images from NCHW to NHWC.
__global__ void permute_nchw_nhwc(const float* in, float* out, int batch, int channels, int height, int width) {
  int w = blockIdx.x * blockDim.x + threadIdx.x;
  int h = blockIdx.y * blockDim.y + threadIdx.y;
  int n = blockIdx.z / channels;
  int c = blockIdx.z % channels;
  if (w < width && h < height) {
    out[((n * height + h) * width + w) * channels + c] = in[((n * channels + c) * height + h) * width + w];
  }
}
