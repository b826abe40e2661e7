// Sequential functions as people write them: which become kernels, and which must not.
#include <cmath>
#include <cstddef>
#include <cstdio>

constexpr int kBins = 64;

// c = a b
void matrix_product(const float* a, const float* b, float* c, int m, int n, int k) {
  for (int i = 0; i < m; i++) {
    for (int j = 0; j < n; j++) {
      float sum = 0;
      for (int p = 0; p < k; p++)
        sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
  }
}

// The same with the inner loops exchanged, and pointers to rows.
void matrix_product_rows(const double* a, const double* b, double* c, size_t m, size_t n,
                         size_t k) {
  for (size_t i = 0; i < m; ++i) {
    double* row = c + i * n;
    for (size_t j = 0; j < n; ++j)
      row[j] = 0.0;
    for (size_t p = 0; p < k; ++p) {
      const double factor = a[i * k + p];
      for (size_t j = 0; j < n; ++j)
        row[j] += factor * b[p * n + j];
    }
  }
}

// Out of place.
void stencil(const float* in, float* out, int rows, int columns) {
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j)
      out[i * columns + j] =
          0.2f * (in[i * columns + j] + in[(i - 1) * columns + j] + in[(i + 1) * columns + j] +
                  in[i * columns + j - 1] + in[i * columns + j + 1]);
}

void saxpy(int n, float a, const float* x, float* y) {
  for (int i = 0; i < n; ++i)
    y[i] = a * x[i] + y[i];
}

void transpose(const float* in, float* out, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out[j * rows + i] = in[i * columns + j];
}

// Three passes over each row; C's style of declarations.
void row_softmax(const float* x, float* y, int rows, int columns) {
  int r, c;
  for (r = 0; r < rows; r++) {
    float largest = x[r * columns];
    for (c = 1; c < columns; c++)
      if (x[r * columns + c] > largest) largest = x[r * columns + c];
    float sum = 0.0f;
    for (c = 0; c < columns; c++)
      sum += std::exp(x[r * columns + c] - largest);
    for (c = 0; c < columns; c++)
      y[r * columns + c] = std::exp(x[r * columns + c] - largest) / sum;
  }
}

void histogram(const unsigned char* values, int* bins, int n) {
  for (int i = 0; i < n; ++i)
    bins[values[i] % kBins]++;
}

float dot_product(const float* x, const float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i)
    sum += x[i] * y[i];
  return sum;
}

// Each row of the lower triangle.
void triangle(const float* a, float* b, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      b[i * n + j] = a[i * n + j] * a[j * n + i];
}

void pairwise_distances(const float* points, float* distances, int count, int dimensions) {
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

// Two nests in sequence; the first one's result is needed whole by the second.
void center(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i)
    sum += x[i];
  const float mean = sum / n;
  for (int i = 0; i < n; ++i)
    y[i] = x[i] - mean;
}

static float weighted(float a, float b) {
  return 0.25f * a + 0.75f * b;
}

// Arrays of fixed extents, and a function of the file.
void blend(const float a[256][128], const float b[256][128], float c[256][128]) {
  for (int i = 0; i < 256; ++i)
    for (int j = 0; j < 128; ++j)
      c[i][j] = weighted(a[i][j], b[i][127 - j]);
}

// Sums of columns: the outer loop carries, the inner one does not.
void column_sums(const float* x, float* sums, int rows, int columns) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      sums[j] += x[i * columns + j];
}

// None of the following is parallel.

void prefix_sum(const float* x, float* y, int n) {
  y[0] = x[0];
  for (int i = 1; i < n; ++i)
    y[i] = y[i - 1] + x[i];
}

void running_sum(const float* x, float* y, int n) {
  float sum = 0.0f;
  for (int i = 0; i < n; ++i) {
    sum += x[i];
    y[i] = sum;
  }
}

void gauss_seidel(float* u, int rows, int columns) {
  for (int i = 1; i < rows - 1; ++i)
    for (int j = 1; j < columns - 1; ++j)
      u[i * columns + j] = 0.25f * (u[(i - 1) * columns + j] + u[(i + 1) * columns + j] +
                                    u[i * columns + j - 1] + u[i * columns + j + 1]);
}

void scatter(const float* b, const int* index, float* a, int n) {
  for (int i = 0; i < n; ++i)
    a[index[i]] = b[i];
}

// Rows that overlap where the pitch is shorter than they are.
void pitched_copy(const float* in, float* out, int rows, int columns, int pitch) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      out[i * pitch + j] = in[i * columns + j];
}

int main() {
  float x[4] = {1, 2, 3, 4};
  std::printf("%g\n", dot_product(x, x, 4));
}
