// 0.4 of each element and 0.1 of its six neighbours, in double precision; zero beyond the field.
__global__ void stencil_3d(const float* in, float* out, int depth, int height, int width) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int area = height * width;
  if (i >= depth * area) return;
  int x = i % width;
  int y = i / width % height;
  int z = i / area;
  double sum = 0.0;
  if (x > 0) sum += (double)in[i - 1];
  if (x < width - 1) sum += (double)in[i + 1];
  if (y > 0) sum += (double)in[i - width];
  if (y < height - 1) sum += (double)in[i + width];
  if (z > 0) sum += (double)in[i - area];
  if (z < depth - 1) sum += (double)in[i + area];
  out[i] = (float)(0.4 * (double)in[i] + 0.1 * sum);
}
