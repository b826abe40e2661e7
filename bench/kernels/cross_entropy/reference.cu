// log(sum of exp(logits)) - the logit of the label, in double precision.
__global__ void cross_entropy(const float* logits, const int* labels, float* loss, int rows, int classes) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* row = logits + (size_t)r * classes;
  double peak = row[0];
  for (int c = 1; c < classes; ++c) peak = fmax(peak, (double)row[c]);
  double sum = 0.0;
  for (int c = 0; c < classes; ++c) sum += exp((double)row[c] - peak);
  loss[r] = (float)(log(sum) + peak - (double)row[labels[r]]);
}
