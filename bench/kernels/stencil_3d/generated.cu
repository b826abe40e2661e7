// parallel for collapse(2) over k, j; serial loop i
__global__ void stencil_3d(const float* in, float* out, int depth, int height, int width) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= depth * height) return;
  int k = t / height;
  int j = t % height;
  int i = 0;
  for (;;) {
    if (i >= width) break;
    int c = (k * height + j) * width + i;
    float t0 = in[c];
    float t1 = i > 0 ? in[c - 1] : 0.0f;
    float t2 = i < width - 1 ? in[c + 1] : 0.0f;
    float t3 = j > 0 ? in[c - width] : 0.0f;
    float t4 = j < height - 1 ? in[c + width] : 0.0f;
    float t5 = k > 0 ? in[c - height * width] : 0.0f;
    float t6 = k < depth - 1 ? in[c + height * width] : 0.0f;
    float t7 = t1 + t2 + t3 + t4 + t5 + t6;
    out[c] = 0.4f * t0 + 0.1f * t7;
    i = i + 1;
  }
}
