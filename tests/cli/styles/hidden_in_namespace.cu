namespace ops {
inline namespace v1 {
namespace {
template <typename T>
__global__ void rotate(T* x, int n) {
  T* p = x + blockIdx.x * blockDim.x;
  p += threadIdx.x;
  if (p - x < n) *p = *p * T(2);
}
}  // namespace
}  // namespace v1
void launch(float* x, int n) { rotate<float><<<(n + 255) / 256, 256>>>(x, n); }
}  // namespace ops
