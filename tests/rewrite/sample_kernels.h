// Kernels in different styles for rewriting tests.
#pragma once

#include <string>
#include <vector>

namespace regraph::test {

struct SampleKernel {
  std::string name;
  std::string source;
  std::string manifest;  // YAML
};

// All of the families below.
[[nodiscard]] const std::vector<SampleKernel>& sample_kernels();

// Contractions, transposes, trees, element-wise kernels.
[[nodiscard]] std::vector<SampleKernel> plain_kernels();
// Tiles in shared memory, laid out by hand.
[[nodiscard]] std::vector<SampleKernel> tiled_kernels();
// One thread a row.
[[nodiscard]] std::vector<SampleKernel> row_kernels();
// One thread a row or a column, with running sums and maxima.
[[nodiscard]] std::vector<SampleKernel> scan_kernels();
// Stencils and convolutions.
[[nodiscard]] std::vector<SampleKernel> neighbourhood_kernels();
// Convolutions: of several images, whose blocks are numbered by two things at once, and with a
// filter of any height.
[[nodiscard]] std::vector<SampleKernel> image_kernels();
// Neighbourhoods whose rows may be made of whole vectors.
[[nodiscard]] std::vector<SampleKernel> vector_window_kernels();
// Views of memory as other types, side effects, lists, records, functions, references.
[[nodiscard]] std::vector<SampleKernel> reading_kernels();
// Indices and values that come through records, as libraries write them.
[[nodiscard]] std::vector<SampleKernel> record_kernels();
// Element-wise kernels of several kinds, histograms, all pairs.
[[nodiscard]] std::vector<SampleKernel> streaming_kernels();
// Kernels that say in a roundabout way what a twin, named NAME_plain, says plainly.
[[nodiscard]] std::vector<SampleKernel> idiom_kernels();
// A thread with rows of constant length: attention and its kin.
[[nodiscard]] std::vector<SampleKernel> attention_kernels();
// Kernels as courses write them, along all axes of a grid.
[[nodiscard]] std::vector<SampleKernel> course_kernels();
// Threads that do in a loop what other threads could do.
[[nodiscard]] std::vector<SampleKernel> loop_kernels();

// Elements of two bytes and of one.
[[nodiscard]] std::vector<SampleKernel> narrow_kernels();

// Atomic additions to rows that an index chooses.
[[nodiscard]] std::vector<SampleKernel> scatter_kernels();

// Half types, blocks that work together by shuffles, cooperative groups and cub.
[[nodiscard]] std::vector<SampleKernel> production_kernels();

}  // namespace regraph::test
