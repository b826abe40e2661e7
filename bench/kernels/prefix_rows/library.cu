// One block a row; chunks of 256 by doubling distances in shared memory, a carry between them.
template <typename T, int kBlock>
class RowScanner {
 public:
  __device__ RowScanner(T* here, T* there) : here_(here), there_(there) {}

  __device__ T scan(T value) {
    here_[threadIdx.x] = value;
    __syncthreads();
    for (int distance = 1; distance < kBlock; distance *= 2) {
      T sum = here_[threadIdx.x];
      if (threadIdx.x >= distance) sum += here_[threadIdx.x - distance];
      there_[threadIdx.x] = sum;
      __syncthreads();
      T* other = here_;
      here_ = there_;
      there_ = other;
    }
    return here_[threadIdx.x];
  }

  __device__ T total() const { return here_[kBlock - 1]; }

 private:
  T* here_;
  T* there_;
};

template <typename T, int kBlock>
__global__ void prefix_rows(const T* __restrict__ x, T* __restrict__ out, int rows, int columns) {
  __shared__ T buffers[2][kBlock];
  const size_t start = static_cast<size_t>(blockIdx.x) * columns;
  T carry = T(0);
  for (int first = 0; first < columns; first += kBlock) {
    const int c = first + threadIdx.x;
    RowScanner<T, kBlock> scanner(buffers[0], buffers[1]);
    const T value = scanner.scan(c < columns ? x[start + c] : T(0));
    if (c < columns) out[start + c] = carry + value;
    carry += scanner.total();
    __syncthreads();
  }
}

template __global__ void prefix_rows<float, 256>(const float*, float*, int, int);
