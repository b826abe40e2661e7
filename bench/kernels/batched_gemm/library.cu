// Strided batches of square matrices whose extent is a template parameter; one block a matrix.
template <typename T, int kExtent>
struct Batch {
  T* __restrict__ data;
  __device__ __forceinline__ T* matrix(size_t index) const { return data + index * (kExtent * kExtent); }
};

template <typename T, int kExtent>
__global__ void batched_gemm(const T* __restrict__ A, const T* __restrict__ B, T* __restrict__ C, int batch) {
  const T* a = Batch<const T, kExtent>{A}.matrix(blockIdx.x);
  const T* b = Batch<const T, kExtent>{B}.matrix(blockIdx.x);
  T* c = Batch<T, kExtent>{C}.matrix(blockIdx.x);
  const size_t row = threadIdx.y;
  const size_t column = threadIdx.x;
  T sum = T(0);
#pragma unroll
  for (int k = 0; k < kExtent; ++k) sum += a[row * kExtent + k] * b[k * kExtent + column];
  c[row * kExtent + column] = sum;
}

template __global__ void batched_gemm<float, 16>(const float*, const float*, float*, int);
