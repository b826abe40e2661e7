// The pairs (i, i + half) of each head turned by the token's angles, in double precision.
__global__ void rotary_embedding(const float* x, const float* cosines, const float* sines, float* out, int tokens,
                                 int heads, int half) {
  for (int i = threadIdx.x; i < tokens * heads * half; i += blockDim.x) {
    int t = i / (heads * half);
    int at = i / half * 2 * half + i % half;
    double c = cosines[t * half + i % half];
    double s = sines[t * half + i % half];
    out[at] = (float)((double)x[at] * c - (double)x[at + half] * s);
    out[at + half] = (float)((double)x[at + half] * c + (double)x[at] * s);
  }
}
