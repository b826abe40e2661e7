// One block a head of a token; pairs are complex numbers.
template <typename T>
struct Complex {
  T real;
  T imaginary;
};

template <typename T>
__device__ __forceinline__ Complex<T> operator*(const Complex<T>& a, const Complex<T>& b) {
  return {a.real * b.real - a.imaginary * b.imaginary, a.imaginary * b.real + a.real * b.imaginary};
}

template <typename T>
__global__ void rotary_embedding(const T* __restrict__ x, const T* __restrict__ cosines,
                                 const T* __restrict__ sines, T* __restrict__ out, int tokens, int heads, int half) {
  const size_t token = blockIdx.y;
  const size_t base = (token * heads + blockIdx.x) * 2 * half;
  for (int d = threadIdx.x; d < half; d += blockDim.x) {
    const Complex<T> angle{cosines[token * half + d], sines[token * half + d]};
    const Complex<T> turned = Complex<T>{x[base + d], x[base + half + d]} * angle;
    out[base + d] = turned.real;
    out[base + half + d] = turned.imaginary;
  }
}

template __global__ void rotary_embedding<float>(const float*, const float*, const float*, float*, int, int, int);
