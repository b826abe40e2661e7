typedef struct {
  float x, y;
  int label;
} Point;
typedef struct {
  float x, y;
} Center;

__global__ void assign_labels(Point* points, const Center* centers, int count, int k) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float best = 1e30f;
  for (int c = 0; c < k; c++) {
    float dx = points[i].x - centers[c].x, dy = points[i].y - centers[c].y;
    float d = dx * dx + dy * dy;
    if (d < best) {
      best = d;
      points[i].label = c;
    }
  }
}
