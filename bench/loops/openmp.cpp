// The functions of tests/loops/functions.cpp that are parallel, as a programmer would spread them
// over a processor's cores with OpenMP, timed on one core and on all.
//
//   g++ -std=c++20 -O3 -march=native -fopenmp -o openmp bench/loops/openmp.cpp && ./openmp
//
// Prints a JSON object a line, seconds: the least of up to seven runs, or of one where it is long.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <omp.h>
#include <string>
#include <vector>

namespace {

using Floats = std::vector<float>;
constexpr int kBins = 64;
constexpr double kEnough = 1.0;        // seconds that a figure may take, but for its first run
constexpr double kMostOnOneCore = 12;  // seconds, by what all cores took

void matrix_product(const float* a, const float* b, float* c, int m, int n, int k) {
#pragma omp parallel for
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int p = 0; p < k; p++)
        sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

void stencil(const float* in, float* out, int rows, int columns) {
#pragma omp parallel for
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j)
      out[i * columns + j] =
          0.2f * (in[i * columns + j] + in[(i - 1) * columns + j] + in[(i + 1) * columns + j] +
                  in[i * columns + j - 1] + in[i * columns + j + 1]);
}

void saxpy(int n, float a, const float* x, float* y) {
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}

void transpose(const float* in, float* out, int rows, int columns) {
#pragma omp parallel for
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out[j * rows + i] = in[i * columns + j];
}

void row_softmax(const float* x, float* y, int rows, int columns) {
#pragma omp parallel for
  for (int r = 0; r < rows; r++) {
    float largest = x[r * columns];
    for (int c = 1; c < columns; c++)
      if (x[r * columns + c] > largest) largest = x[r * columns + c];
    float sum = 0.0f;
    for (int c = 0; c < columns; c++)
      sum += std::exp(x[r * columns + c] - largest);
    for (int c = 0; c < columns; c++)
      y[r * columns + c] = std::exp(x[r * columns + c] - largest) / sum;
  }
}

void histogram(const unsigned char* values, int* bins, int n) {
#pragma omp parallel for reduction(+ : bins[:kBins])
  for (int i = 0; i < n; ++i)
    bins[values[i] % kBins]++;
}

float dot_product(const float* x, const float* y, int n) {
  float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}

void triangle(const float* a, float* b, int n) {
#pragma omp parallel for schedule(dynamic, 16)
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      b[i * n + j] = a[i * n + j] * a[j * n + i];
}

void pairwise_distances(const float* points, float* distances, int count, int dimensions) {
#pragma omp parallel for
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j) {
      float sum = 0.0f;
      for (int d = 0; d < dimensions; ++d) {
        const float difference = points[i * dimensions + d] - points[j * dimensions + d];
        sum += difference * difference;
      }
      distances[i * count + j] = std::sqrt(sum);
    }
}

void center(const float* x, float* y, int n) {
  float sum = 0.0f;
#pragma omp parallel for simd reduction(+ : sum)
  for (int i = 0; i < n; ++i)
    sum += x[i];
  const float mean = sum / static_cast<float>(n);
#pragma omp parallel for simd
  for (int i = 0; i < n; ++i)
    y[i] = x[i] - mean;
}

void column_sums(const float* x, float* sums, int rows, int columns) {
#pragma omp parallel for reduction(+ : sums[:columns])
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      sums[j] += x[i * columns + j];
}

double least_seconds(const std::function<void()>& run) {
  double least = 0.0;
  double all = 0.0;
  for (int repetition = 0; repetition < 7 && all < kEnough; ++repetition) {
    const double begin = omp_get_wtime();
    run();
    const double seconds = omp_get_wtime() - begin;
    least = repetition == 0 ? seconds : std::min(least, seconds);
    all += seconds;
  }
  return least;
}

void time_function(const std::string& name, const std::function<void()>& run) {
  const int threads = omp_get_num_procs();
  omp_set_num_threads(threads);
  const double together = least_seconds(run);
  double alone = 0.0;
  if (together * threads < kMostOnOneCore) {
    omp_set_num_threads(1);
    alone = least_seconds(run);
  }
  std::printf("{\"function\": \"%s\", \"threads\": %d, \"openmp\": %.6g, \"one_core\": ",
              name.c_str(), threads, together);
  std::printf(alone > 0.0 ? "%.6g}\n" : "null}\n", alone);
  std::fflush(stdout);
}

}  // namespace

int main() {
  constexpr int kLong = 1 << 24;
  constexpr int kSide = 4096;
  Floats x(kLong, 0.5f);
  Floats y(kLong, 0.25f);
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>(i % 1000) * 0.001f;
  std::vector<unsigned char> bytes(kLong);
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<unsigned char>(i * 2654435761U >> 13);
  std::vector<int> bins(kBins);
  Floats large(std::size_t{8192} * 8192);
  float sink = 0.0f;
  time_function("matrix_product",
                [&] { matrix_product(x.data(), y.data(), large.data(), 2048, 2048, 2048); });
  time_function("stencil", [&] { stencil(x.data(), y.data(), kSide, kSide); });
  time_function("saxpy", [&] { saxpy(kLong, 2.0f, x.data(), y.data()); });
  time_function("transpose", [&] { transpose(x.data(), y.data(), kSide, kSide); });
  time_function("row_softmax", [&] { row_softmax(x.data(), y.data(), 16384, 1024); });
  time_function("histogram", [&] { histogram(bytes.data(), bins.data(), kLong); });
  time_function("dot_product", [&] { sink += dot_product(x.data(), y.data(), kLong); });
  time_function("triangle", [&] { triangle(x.data(), y.data(), kSide); });
  time_function("pairwise_distances",
                [&] { pairwise_distances(x.data(), large.data(), 8192, 64); });
  time_function("center", [&] { center(x.data(), y.data(), kLong); });
  time_function("column_sums", [&] { column_sums(x.data(), y.data(), kSide, kSide); });
  return sink == 12345.0f ? 1 : 0;
}
