// 3 x 3 median of bytes with minimum and maximum only, on a shared tile with a border of one. Bytes
// are loaded and stored one by one, and the tile's rows are 34 bytes apart.
#define TILE_W 32
#define TILE_H 8
__device__ void order(int& lo, int& hi) {
  int a = min(lo, hi);
  hi = max(lo, hi);
  lo = a;
}

__global__ void median_tile(const unsigned char* image, unsigned char* clean, int width,
                            int height) {
  __shared__ unsigned char tile[TILE_H + 2][TILE_W + 2];
  int tid = threadIdx.y * TILE_W + threadIdx.x;
  for (int k = tid; k < (TILE_H + 2) * (TILE_W + 2); k += TILE_W * TILE_H) {
    int ty = k / (TILE_W + 2), tx = k % (TILE_W + 2);
    int gx = min(max((int)blockIdx.x * TILE_W + tx - 1, 0), width - 1);
    int gy = min(max((int)blockIdx.y * TILE_H + ty - 1, 0), height - 1);
    tile[ty][tx] = image[gy * width + gx];
  }
  __syncthreads();
  int x = blockIdx.x * TILE_W + threadIdx.x;
  int y = blockIdx.y * TILE_H + threadIdx.y;
  if (x < width && y < height) {
    int lows = 0, highs = 255, mids[3];
    for (int c = 0; c < 3; ++c) {
      int p = tile[threadIdx.y][threadIdx.x + c];
      int q = tile[threadIdx.y + 1][threadIdx.x + c];
      int r = tile[threadIdx.y + 2][threadIdx.x + c];
      order(p, q);
      order(q, r);
      order(p, q);
      lows = max(lows, p);
      highs = min(highs, r);
      mids[c] = q;
    }
    int mid = max(min(mids[0], mids[1]), min(max(mids[0], mids[1]), mids[2]));
    clean[y * width + x] = max(min(lows, mid), min(max(lows, mid), highs));
  }
}
