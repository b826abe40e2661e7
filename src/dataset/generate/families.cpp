#include "dataset/generate/families.h"

namespace regraph::dataset {

std::span<const Family> families() {
  static constexpr Family kFamilies[] = {
      {"map", write_map},
      {"combination", write_combination},
      {"polynomial", write_polynomial},
      {"iterated_map", write_iterated_map},
      {"color_conversion", write_color_conversion},
      {"transpose", write_transpose},
      {"permutation", write_permutation},
      {"gather", write_gather},
      {"scatter", write_scatter},
      {"upsampling", write_upsampling},
      {"row_reduction", write_row_reduction},
      {"row_norm", write_row_norm},
      {"softmax_row", write_softmax_row},
      {"row_scan", write_row_scan},
      {"arg_max", write_arg_max},
      {"column_reduction", write_column_reduction},
      {"full_reduction", write_full_reduction},
      {"histogram", write_histogram},
      {"matrix_vector", write_matrix_vector},
      {"matrix_matrix", write_matrix_matrix},
      {"batched_product", write_batched_product},
      {"outer_product", write_outer_product},
      {"distance_matrix", write_distance_matrix},
      {"pairwise", write_pairwise},
      {"stencil_1d", write_stencil_1d},
      {"stencil_2d", write_stencil_2d},
      {"stencil_3d", write_stencil_3d},
      {"convolution_1d", write_convolution_1d},
      {"convolution_2d", write_convolution_2d},
      {"pooling", write_pooling},
  };
  return kFamilies;
}

}  // namespace regraph::dataset
