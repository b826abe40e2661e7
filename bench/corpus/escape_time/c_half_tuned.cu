// Escape times with a fixed number of steps and no early exit (a step counts while the point is
// inside); every thread does four neighbouring pixels of a row, so its stores are 16 bytes apart.
#define PIXELS 4
__global__ void escape_counts(const float2* c, int* count, int pixels, int rounds) {
  int from = PIXELS * (blockIdx.x * blockDim.x + threadIdx.x);
  for (int k = 0; k < PIXELS; k++) {
    if (from + k < pixels) {
      float2 p = c[from + k];
      float x = 0.0f;
      float y = 0.0f;
      int inside = 0;
      for (int r = 0; r < rounds; r++) {
        float next = x * x - y * y + p.x;
        y = 2.0f * x * y + p.y;
        x = next;
        if (x * x + y * y < 4.0f) {
          inside++;
        } else {
          x = 3.0f;
          y = 3.0f;
        }
      }
      count[from + k] = inside;
    }
  }
}
