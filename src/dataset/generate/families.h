// The families of kernels that can be made, each a function that writes one of them.
#pragma once

#include "dataset/generate/generator.h"
#include "dataset/generate/kernel_draft.h"

#include <span>
#include <string_view>

namespace regraph::dataset {

struct Family {
  std::string_view name;
  GeneratedKernel (*write)(const KernelPlace& place);
};

// In the order of generator_families().
[[nodiscard]] std::span<const Family> families();

// elementwise_families.cpp
[[nodiscard]] GeneratedKernel write_map(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_combination(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_polynomial(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_iterated_map(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_color_conversion(const KernelPlace& place);
// movement_families.cpp
[[nodiscard]] GeneratedKernel write_transpose(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_permutation(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_gather(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_scatter(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_upsampling(const KernelPlace& place);
// row_families.cpp
[[nodiscard]] GeneratedKernel write_row_reduction(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_row_norm(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_softmax_row(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_row_scan(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_arg_max(const KernelPlace& place);
// reduction_families.cpp
[[nodiscard]] GeneratedKernel write_column_reduction(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_full_reduction(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_histogram(const KernelPlace& place);
// product_families.cpp
[[nodiscard]] GeneratedKernel write_matrix_vector(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_matrix_matrix(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_batched_product(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_outer_product(const KernelPlace& place);
// pair_families.cpp
[[nodiscard]] GeneratedKernel write_distance_matrix(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_pairwise(const KernelPlace& place);
// stencil_families.cpp
[[nodiscard]] GeneratedKernel write_stencil_1d(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_stencil_2d(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_stencil_3d(const KernelPlace& place);
// window_families.cpp
[[nodiscard]] GeneratedKernel write_convolution_1d(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_convolution_2d(const KernelPlace& place);
[[nodiscard]] GeneratedKernel write_pooling(const KernelPlace& place);

}  // namespace regraph::dataset
