// Puts from records of four floats (spot, strike, years, volatility); each thread takes eight
// records in a row, loaded component by component: neighbouring threads are 128 bytes apart.
#define EACH 8
__global__ void put_records(const float* records, float* puts, int count, float rate) {
  int begin = (blockIdx.x * blockDim.x + threadIdx.x) * EACH;
  for (int o = begin; o < begin + EACH && o < count; o++) {
    float spot = records[4 * o];
    float strike = records[4 * o + 1];
    float years = records[4 * o + 2];
    float vol = records[4 * o + 3];
    float root = vol * sqrtf(years);
    float d1 = (logf(spot / strike) + (rate + 0.5f * vol * vol) * years) / root;
    float d2 = d1 - root;
    float discounted = strike * expf(-rate * years);
    puts[o] = discounted * normcdff(-d2) - spot * normcdff(-d1);
  }
}
