// Corpora for leak checks: made by hand, and the shipped one.
#pragma once

#include "base/files.h"
#include "learn/leak_check.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace regraph::learn::examples {

inline constexpr const char* kScaling = R"cuda(// Doubles.
__global__ void scale(const float* __restrict__ in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    out[i] = 2.0f * in[i];
  }
}
)cuda";
// The same by somebody else.
inline constexpr const char* kScalingRenamed =
    R"cuda(__global__ void times(float const* from, float* __restrict__ to, const int count) {
  const int at = blockIdx.x*blockDim.x   /* neighbours */  + threadIdx.x;
  if (at < count) to[at] = 3.5f * from[at];
}
)cuda";
inline constexpr const char* kRowSums =
    R"cuda(__global__ void sums(const float* matrix, float* sums, int rows, int columns) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float total = 0.0f;
  for (int column = 0; column < columns; ++column) total += matrix[row * columns + column];
  sums[row] = total;
}
)cuda";
inline constexpr const char* kTransposition =
    R"cuda(__global__ void turn(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  if (x < width && y < height) tile[threadIdx.y][threadIdx.x] = in[y * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][threadIdx.y];
}
)cuda";

// A corpus and its kernels, added one by one.
struct CheckedCorpus {
  Corpus corpus;
  std::vector<CheckedKernel> kernels;

  CheckedKernel& add(const std::string& family, const std::string& style, const std::string& source,
                     std::vector<CheckedState> states = {}) {
    CorpusKernel kernel;
    kernel.family = family;
    kernel.name = family + "/" + style;
    kernel.file = "corpus/" + kernel.name + ".cu";
    corpus.kernels.push_back(kernel);
    return kernels.emplace_back(CheckedKernel{kernel, source, std::move(states)});
  }
  [[nodiscard]] LeakCheck check() const { return check_leaks(corpus, kernels); }
};

// bench/corpus with its sources.
inline CheckedCorpus shipped_corpus() {
  CheckedCorpus result;
  auto corpus = read_corpus(REGRAPH_SOURCE_DIR "/bench/corpus");
  EXPECT_TRUE(corpus) << corpus.error().message;
  if (!corpus) return result;
  result.corpus = std::move(*corpus);
  for (const CorpusKernel& kernel : result.corpus.kernels) {
    auto source = read_file(kernel.file, std::size_t{1} << 20);
    EXPECT_TRUE(source) << source.error().message;
    if (source) result.kernels.push_back({kernel, std::move(*source), {}});
  }
  return result;
}

}  // namespace regraph::learn::examples
