// Cross-entropy loss of each sample from its logits.
__global__ void cross_entropy(const float* logits, const int* labels, float* loss, int rows, int classes) {
  int sample = blockIdx.x * blockDim.x + threadIdx.x;
  if (sample < rows) {
    float maximum = logits[sample * classes];
    for (int c = 1; c < classes; c++) {
      maximum = fmaxf(maximum, logits[sample * classes + c]);
    }
    float sum = 0.0f;
    for (int c = 0; c < classes; c++) {
      sum += expf(logits[sample * classes + c] - maximum);
    }
    loss[sample] = logf(sum) + maximum - logits[sample * classes + labels[sample]];
  }
}
