// Maximum over square windows of an image, stride equal to the window: one thread an output.
// The loads of neighbouring threads are a window apart.
__global__ void max_pool(const float* in, float* out, int out_w, int out_h, int window) {
  int ox = blockIdx.x * blockDim.x + threadIdx.x;
  int oy = blockIdx.y * blockDim.y + threadIdx.y;
  if (ox < out_w && oy < out_h) {
    int pitch = out_w * window;
    float best = in[oy * window * pitch + ox * window];
    for (int i = 0; i < window; i++) {
      for (int j = 0; j < window; j++) {
        float v = in[(oy * window + i) * pitch + ox * window + j];
        if (v > best) best = v;
      }
    }
    out[oy * out_w + ox] = best;
  }
}
