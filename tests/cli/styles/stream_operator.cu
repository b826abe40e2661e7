#include <iostream>
#include <vector>

struct Result {
  int count;
  double seconds;
};
std::ostream& operator<<(std::ostream& out, const Result& r) {
  return out << r.count << " in " << r.seconds << " s";
}
bool operator<(const Result& a, const Result& b) {
  return a.seconds < b.seconds;
}

__global__ void negate(double* v, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) v[i] = -v[i];
}

int main() {
  std::vector<double> host(1 << 16, 1.0);
  double* v;
  cudaMalloc((void**)&v, host.size() * sizeof(double));
  negate<<<(1 << 16) / 512, 512>>>(v, 1 << 16);
  std::cout << Result{1, 0.5} << std::endl;
}
