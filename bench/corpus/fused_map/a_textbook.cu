// One step of gradient descent with momentum and weight decay, all arrays read and written once;
// one thread an element with 4-byte accesses.
__global__ void momentum_step(const float* gradient, const float* mask, float* velocity,
                              float* weight, float rate, float decay, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    float g = gradient[i] * mask[i] + decay * weight[i];
    float v = 0.9f * velocity[i] - rate * g;
    velocity[i] = v;
    weight[i] = weight[i] + v;
  }
}
