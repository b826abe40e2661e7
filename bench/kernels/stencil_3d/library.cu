// A field knows its extents; reads outside give zero.
template <typename T>
struct Field {
  const T* __restrict__ data;
  int depth, height, width;
  __device__ __forceinline__ size_t index(int z, int y, int x) const {
    return (static_cast<size_t>(z) * height + y) * width + x;
  }
  __device__ __forceinline__ T operator()(int z, int y, int x) const {
    const bool inside = z >= 0 && z < depth && y >= 0 && y < height && x >= 0 && x < width;
    return inside ? data[index(z, y, x)] : T(0);
  }
};

template <typename T>
__global__ void stencil_3d(const T* __restrict__ in, T* __restrict__ out, int depth, int height, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  const int z = blockIdx.z * blockDim.z + threadIdx.z;
  if (x >= width || y >= height || z >= depth) return;
  const Field<T> f{in, depth, height, width};
  out[f.index(z, y, x)] = T(0.4) * f(z, y, x) + T(0.1) * (f(z, y, x - 1) + f(z, y, x + 1) + f(z, y - 1, x) +
                                                         f(z, y + 1, x) + f(z - 1, y, x) + f(z + 1, y, x));
}

template __global__ void stencil_3d<float>(const float*, float*, int, int, int);
