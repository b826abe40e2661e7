// out[b][h][w][c] = in[b][c][h][w].
__global__ void permute_nchw_nhwc(const float* in, float* out, int batch, int channels, int height, int width) {
  int area = height * width;
  for (int i = threadIdx.x; i < batch * channels * area; i += blockDim.x) {
    int b = i / (channels * area);
    int c = i / area % channels;
    out[(b * area + i % area) * channels + c] = in[i];
  }
}
