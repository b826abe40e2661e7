// What the libraries of the CUDA toolkit take for the work of this folder, on the GPU that is here:
//
//     nvcc -O3 -std=c++17 -arch=native bench/kernels/libraries.cu -lcublas -o libraries && ./libraries > libraries.jsonl
//
// A line of JSON for each family, size and way; `bench/kernels/run --libraries libraries.jsonl` takes the fastest of a size that
// computes in single precision. Median of 30 launches, each after a sweep of the L2 cache.
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void require(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "libraries: %s: %s\n", what, cudaGetErrorString(status));
  std::exit(1);
}

void require(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "libraries: %s: %s\n", what, cublasGetStatusString(status));
  std::exit(1);
}

__global__ void fill(float* values, size_t count, unsigned seed) {
  for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<size_t>(gridDim.x) * blockDim.x) {
    unsigned bits = static_cast<unsigned>(i) * 2654435761u + seed;
    bits ^= bits >> 15;
    bits *= 2246822519u;
    bits ^= bits >> 13;
    values[i] = static_cast<float>(bits >> 8) * (2.0f / 16777216.0f) - 1.0f;
  }
}

__global__ void copy_quads(const float4* __restrict__ in, float4* __restrict__ out, size_t count) {
  const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i];
}

// Device memory that goes with its scope; floats between -1 and 1.
class Buffer {
 public:
  explicit Buffer(size_t count, unsigned seed = 1) : count_(count) {
    require(cudaMalloc(&data_, std::max<size_t>(count, 1) * sizeof(float)), "cudaMalloc");
    fill<<<1024, 256>>>(data_, count, seed);
    require(cudaGetLastError(), "fill");
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  float* get() const { return data_; }
  template <typename T>
  T* as() const {
    return reinterpret_cast<T*>(data_);
  }
  size_t count() const { return count_; }

 private:
  float* data_ = nullptr;
  size_t count_;
};

// Times calls with the L2 swept in between.
class Clock {
 public:
  Clock() : sweep_(64u << 20) {
    require(cudaEventCreate(&begin_), "cudaEventCreate");
    require(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Clock() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;

  // Median seconds of a launch.
  double seconds(const std::function<void()>& launch) const {
    for (int i = 0; i < 3; ++i) launch();
    std::vector<float> milliseconds(30);
    for (float& one : milliseconds) {
      require(cudaMemsetAsync(sweep_.get(), 0, sweep_.count() * sizeof(float)), "cudaMemsetAsync");
      require(cudaEventRecord(begin_), "cudaEventRecord");
      launch();
      require(cudaEventRecord(end_), "cudaEventRecord");
      require(cudaEventSynchronize(end_), "a timed launch");
      require(cudaEventElapsedTime(&one, begin_, end_), "cudaEventElapsedTime");
    }
    std::sort(milliseconds.begin(), milliseconds.end());
    return milliseconds[milliseconds.size() / 2] * 1e-3;
  }

 private:
  Buffer sweep_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
};

// `exact`: in single precision, so that it may be compared.
void tell(const char* family, const std::string& sizes, const char* way, bool exact, double seconds) {
  std::printf("{\"family\": \"%s\", \"sizes\": \"%s\", \"way\": \"%s\", \"exact\": %s, \"seconds\": %.9g}\n", family,
              sizes.c_str(), way, exact ? "true" : "false", seconds);
  std::fflush(stdout);
}

std::string size_of(const char* name, long long value) {
  return std::string(name) + "=" + std::to_string(value);
}

void time_copies(const Clock& clock) {
  for (const size_t n : {size_t{16777216}, size_t{67108864}, size_t{50000003}}) {
    const Buffer in(n);
    const Buffer out(n);
    const std::string sizes = size_of("n", static_cast<long long>(n));
    tell("copy", sizes, "cudaMemcpyAsync", true, clock.seconds([&] {
           require(cudaMemcpyAsync(out.get(), in.get(), n * sizeof(float), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
         }));
    if (n % 4 != 0) continue;
    tell("copy", sizes, "float4 kernel", true, clock.seconds([&] {
           copy_quads<<<static_cast<unsigned>((n / 4 + 255) / 256), 256>>>(in.as<const float4>(), out.as<float4>(), n / 4);
         }));
  }
}

struct Product {
  int m, n, k;
};

// Row-major C = alpha A B + beta C is column-major C^T = alpha B^T A^T + beta C^T.
void time_products(const Clock& clock, cublasHandle_t handle) {
  const float alpha = 1.5f;
  const float beta = 0.5f;
  for (const Product p : {Product{1024, 1024, 1024}, Product{4096, 4096, 4096}, Product{64, 4096, 4096}, Product{2001, 1999, 2003}}) {
    const Buffer a(static_cast<size_t>(p.m) * p.k);
    const Buffer b(static_cast<size_t>(p.k) * p.n, 2);
    const Buffer c(static_cast<size_t>(p.m) * p.n, 3);
    const std::string sizes = size_of("K", p.k) + "," + size_of("M", p.m) + "," + size_of("N", p.n);
    const auto product = [&] {
      require(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, p.n, p.m, p.k, &alpha, b.get(), p.n, a.get(), p.k, &beta, c.get(), p.n), "cublasSgemm");
    };
    require(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
    tell("sgemm", sizes, "cublasSgemm", true, clock.seconds(product));
    require(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH), "cublasSetMathMode");
    tell("sgemm", sizes, "cublasSgemm, TF32", false, clock.seconds(product));
  }
  require(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  for (const int batch : {32768, 131072, 50001}) {
    const size_t count = static_cast<size_t>(batch) * 256;
    const Buffer a(count);
    const Buffer b(count, 2);
    const Buffer c(count, 3);
    const float one = 1.0f;
    const float zero = 0.0f;
    tell("batched_gemm", size_of("batch", batch), "cublasSgemmStridedBatched", true, clock.seconds([&] {
           require(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 16, 16, 16, &one, b.get(), 16, 256, a.get(), 16, 256, &zero,
                                             c.get(), 16, 256, batch),
                   "cublasSgemmStridedBatched");
         }));
  }
}

struct Extent {
  int rows, columns;
};

std::string matrix_size(Extent e) { return size_of("columns", e.columns) + "," + size_of("rows", e.rows); }

void time_vectors(const Clock& clock, cublasHandle_t handle) {
  const float one = 1.0f;
  const float zero = 0.0f;
  const float a = 1.5f;
  for (const Extent e : {Extent{4096, 4096}, Extent{16384, 4096}, Extent{9001, 3003}}) {
    const Buffer matrix(static_cast<size_t>(e.rows) * e.columns);
    const Buffer x(std::max(e.rows, e.columns));
    const Buffer y(std::max(e.rows, e.columns), 2);
    tell("gemv", matrix_size(e), "cublasSgemv", true, clock.seconds([&] {
           require(cublasSgemv(handle, CUBLAS_OP_T, e.columns, e.rows, &one, matrix.get(), e.columns, x.get(), 1, &zero, y.get(), 1), "cublasSgemv");
         }));
    tell("gemv_transposed", matrix_size(e), "cublasSgemv", true, clock.seconds([&] {
           require(cublasSgemv(handle, CUBLAS_OP_N, e.columns, e.rows, &one, matrix.get(), e.columns, x.get(), 1, &one, y.get(), 1), "cublasSgemv");
         }));
  }
  for (const int n : {8388608, 67108864, 40000001}) {
    const Buffer x(n);
    const Buffer y(n, 2);
    tell("axpy", size_of("n", n), "cublasSaxpy", true, clock.seconds([&] { require(cublasSaxpy(handle, n, &a, x.get(), 1, y.get(), 1), "cublasSaxpy"); }));
  }
  const Buffer result(1);
  require(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE), "cublasSetPointerMode");
  for (const int n : {8388608, 67108864, 30000001}) {
    const Buffer x(n);
    const Buffer y(n, 2);
    tell("dot_product", size_of("n", n), "cublasSdot", true,
         clock.seconds([&] { require(cublasSdot(handle, n, x.get(), 1, y.get(), 1, result.get()), "cublasSdot"); }));
  }
  require(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_HOST), "cublasSetPointerMode");
  for (const Extent e : {Extent{4096, 4096}, Extent{8192, 8192}, Extent{5003, 3001}}) {
    const Buffer in(static_cast<size_t>(e.rows) * e.columns);
    const Buffer out(in.count());
    tell("transpose", matrix_size(e), "cublasSgeam", true, clock.seconds([&] {
           require(cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, e.rows, e.columns, &one, in.get(), e.columns, &zero, out.get(), e.rows, out.get(), e.rows),
                   "cublasSgeam");
         }));
  }
}

// Calls a CUB algorithm with the temporary storage that it asks for.
template <typename Algorithm>
double with_storage(const Clock& clock, const Algorithm& algorithm) {
  size_t bytes = 0;
  require(algorithm(nullptr, bytes), "CUB's size of temporary storage");
  const Buffer storage(bytes / sizeof(float) + 1);
  return clock.seconds([&] { require(algorithm(storage.as<void>(), bytes), "CUB"); });
}

struct RowBegin {
  int columns;
  __host__ __device__ long long operator()(long long row) const { return row * columns; }
};

void time_reductions(const Clock& clock) {
  for (const int n : {16777216, 134217728, 50000003}) {
    const Buffer x(n);
    const Buffer total(1);
    tell("sum_all", size_of("n", n), "cub::DeviceReduce::Sum", true, with_storage(clock, [&](void* storage, size_t& bytes) {
           return cub::DeviceReduce::Sum(storage, bytes, x.get(), total.get(), n);
         }));
  }
  for (const Extent e : {Extent{65536, 256}, Extent{32768, 2048}, Extent{10007, 3001}}) {
    const Buffer x(static_cast<size_t>(e.rows) * e.columns);
    const Buffer sums(e.rows);
    const auto begins = thrust::make_transform_iterator(thrust::make_counting_iterator(0LL), RowBegin{e.columns});
    tell("row_sum", matrix_size(e), "cub::DeviceSegmentedReduce::Sum", true, with_storage(clock, [&](void* storage, size_t& bytes) {
           return cub::DeviceSegmentedReduce::Sum(storage, bytes, x.get(), sums.get(), e.rows, begins, begins + 1);
         }));
  }
  for (const int n : {67108864, 134217728, 100000007}) {
    const Buffer data(static_cast<size_t>(n) / 4 + 1);
    const Buffer bins(256);
    tell("histogram", size_of("n", n), "cub::DeviceHistogram::HistogramEven", true, with_storage(clock, [&](void* storage, size_t& bytes) {
           return cub::DeviceHistogram::HistogramEven(storage, bytes, data.as<const std::uint8_t>(), bins.as<int>(), 257, 0, 256, n);
         }));
  }
}

}  // namespace

int main() {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "libraries: no GPU is here\n");
    return 77;
  }
  const Clock clock;
  cublasHandle_t handle = nullptr;
  require(cublasCreate(&handle), "cublasCreate");
  time_copies(clock);
  time_products(clock, handle);
  time_vectors(clock, handle);
  time_reductions(clock);
  require(cublasDestroy(handle), "cublasDestroy");
  return 0;
}
