// Softmax along the rows, one thread a row. The exponentials are written to the result, read back
// and divided there; everything a thread touches is a row away from its neighbour's.
__global__ void soft_max_by_row(const float* logits, float* shares, int batch, int classes) {
  int b = blockIdx.x * blockDim.x + threadIdx.x;
  if (b < batch) {
    float peak = -1.0e30f;
    for (int c = 0; c < classes; c++) {
      float v = logits[b * classes + c];
      if (v > peak) peak = v;
    }
    float whole = 0.0f;
    for (int c = 0; c < classes; c++) {
      float e = expf(logits[b * classes + c] - peak);
      shares[b * classes + c] = e;
      whole += e;
    }
    for (int c = 0; c < classes; c++) {
      shares[b * classes + c] = shares[b * classes + c] / whole;
    }
  }
}
