// f64 functions whose slow paths the compiler leaves as functions of their own.
extern "C" __global__ void double_functions(const double* x, double* out) {
  double a = x[threadIdx.x];
  out[threadIdx.x] = sin(a * 1e6) + cos(a * 1e15) + pow(fabs(a) + 0.1, 3.7) + tgamma(fabs(a) + 0.5) +
                     lgamma(fabs(a) + 0.5) + tan(a) + fmod(a * 1e9, 7.0);
}
