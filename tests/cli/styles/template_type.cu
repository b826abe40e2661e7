template <typename T>
__global__ void clamp_all(T* data, int n, T low, T high) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = data[i] < low ? low : (data[i] > high ? high : data[i]);
}
template __global__ void clamp_all<float>(float*, int, float, float);
