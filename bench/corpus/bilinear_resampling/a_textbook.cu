// Bilinear resampling to another size: one thread an output pixel, four loads and the weights from
// floating-point coordinates, computed anew in every thread.
__global__ void resize(const float* src, float* dst, int sw, int sh, int dw, int dh) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < dw && y < dh) {
    float fx = (x + 0.5f) * sw / dw - 0.5f;
    float fy = (y + 0.5f) * sh / dh - 0.5f;
    fx = fminf(fmaxf(fx, 0.0f), sw - 1.0f);
    fy = fminf(fmaxf(fy, 0.0f), sh - 1.0f);
    int x0 = (int)fx;
    int y0 = (int)fy;
    int x1 = min(x0 + 1, sw - 1);
    int y1 = min(y0 + 1, sh - 1);
    float ax = fx - x0;
    float ay = fy - y0;
    float top = (1.0f - ax) * src[y0 * sw + x0] + ax * src[y0 * sw + x1];
    float bottom = (1.0f - ax) * src[y1 * sw + x0] + ax * src[y1 * sw + x1];
    dst[y * dw + x] = (1.0f - ay) * top + ay * bottom;
  }
}
