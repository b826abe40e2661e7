// One step of gradient descent with momentum and weight decay on weights in a matrix. Threads of a
// warp stand below each other: 16 rows at a time, each a separate sector.
__global__ void momentum_step(const float* gradient, const float* mask, float* velocity,
                              float* weight, float rate, float decay, int out_units, int in_units) {
  int u = blockIdx.x * blockDim.x + threadIdx.x;
  int v = blockIdx.y * blockDim.y + threadIdx.y;
  if (u < out_units && v < in_units) {
    int at = u * in_units + v;
    float slope = gradient[at] * mask[at];
    slope += decay * weight[at];
    float speed = 0.9f * velocity[at];
    speed -= rate * slope;
    velocity[at] = speed;
    weight[at] += speed;
  }
}
