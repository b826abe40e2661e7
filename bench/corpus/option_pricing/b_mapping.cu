// Call prices for every strike and every expiry of one underlying, discount factors given. The
// table is stored with the expiry running fastest, but x of the threads walks over the strikes.
__global__ void call_surface(const float* strikes, const float* expiries, const float* discount,
                             float* surface, int strike_count, int expiry_count, float spot,
                             float sigma) {
  int k = blockIdx.x * blockDim.x + threadIdx.x;
  int e = blockIdx.y * blockDim.y + threadIdx.y;
  if (k >= strike_count || e >= expiry_count) return;
  float spread = sigma * sqrtf(fabsf(expiries[e]) + 0.1f);
  float owed = (fabsf(strikes[k]) + 1.0f) * (fabsf(discount[e]) + 0.1f);
  float d = logf(spot / owed) / spread + 0.5f * spread;
  surface[k * expiry_count + e] =
      spot * 0.5f * erfcf(-0.70710678f * d) - owed * 0.5f * erfcf(-0.70710678f * (d - spread));
}
