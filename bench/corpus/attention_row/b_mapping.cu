// Attention of one query row of every head, given its raw scores against the keys: softmax over the
// keys and the weighted sum of the values. Heads follow threadIdx.x, features y; each thread redoes
// the softmax, and values of neighbouring threads are a head apart.
__global__ void head_output(const float* score, const float* value, float* mixed, int heads,
                            int keys, int features) {
  int h = blockIdx.x * blockDim.x + threadIdx.x;
  int f = blockIdx.y * blockDim.y + threadIdx.y;
  if (h >= heads || f >= features) return;
  float top = score[h * keys];
  for (int k = 1; k < keys; ++k)
    top = fmaxf(top, score[h * keys + k]);
  float weight_sum = 0.0f;
  float acc = 0.0f;
  for (int k = 0; k < keys; ++k) {
    float w = expf(score[h * keys + k] - top);
    weight_sum += w;
    acc += w * value[(h * keys + k) * features + f];
  }
  mixed[h * features + f] = acc / weight_sum;
}
