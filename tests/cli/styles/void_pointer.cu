// What the bytes are the kernel alone knows.
__global__ void twice_bytes(void* data, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int* numbers = static_cast<int*>(data);
  if (i < n) numbers[i] = 2 * numbers[i];
}
