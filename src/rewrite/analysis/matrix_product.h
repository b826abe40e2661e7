// Kernels that compute an element of a matrix product a thread:
//
//   for (k = first; k < limit; ++k) sum += A[.., i, k, ..] * B[.., k, j, ..]
//
// i and j are where the thread stands in the grid along two axes. Used by tensor_core, wgmma and
// skinny_gemm.
#pragma once

#include "affine/tile_guard.h"
#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// One axis of the grid, in whose threads the product's rows or columns are counted.
struct ProductAxis {
  int axis = 0;            // 0 to 2
  std::string coordinate;  // a new name for where a thread stands along it
  ExprPtr limit;           // threads there are, where no guard says so; null: a guard does
};

// A factor: what is loaded, over the coordinate of its axis and the name of the loop's counter.
struct ProductFactor {
  std::string array;
  Polynomial index;
  bool is_wide = false;           // the index has 64 bits
  bool along_k = false;           // its neighbours in memory differ in k; else in the coordinate
  std::vector<TileGuard> guards;  // under which the original loads it; none asks for k
  // Parameters that a vector's elements have to divide for vectors to be aligned, asked at run
  // time; nothing where they never are.
  std::optional<std::set<std::string>> divisible;
  ProductAxis axis;
};

struct MatrixProduct {
  const Stmt* loop = nullptr;
  CountedLoop counted;
  Polynomial first;  // iterations, the same for all threads
  Polynomial limit;
  bool is_wide = false;                      // the counter has 64 bits
  ScalarType factor_type = ScalarType::f32;  // or f16, bf16, i8, u8
  ScalarType sum_type = ScalarType::f32;     // or i32
  std::string sum;                           // what products are added to
  std::vector<ExprPtr> guards;               // under which they are
  // Zeros stand for what guards inside of the loop skip. They add nothing unless the other factor
  // is infinite or no number; where the loop's part of the sum is no number, the loop runs as it
  // did.
  bool may_meet_infinity = false;
  // Arrays of which neighbours along the axis of the columns are known to be neighbours in memory.
  std::set<std::string> row_major;
  std::array<ProductFactor, 2> factors;

  // Of the 16 bytes that are copied at once.
  [[nodiscard]] int vector_elements() const {
    return 16 / static_cast<int>(size_in_bytes(factor_type));
  }
};

// The product that the kernel computes, if that is all that its threads do together. `form` is in
// normal form. Error: refused, with what is in the way.
[[nodiscard]] Result<MatrixProduct> find_matrix_product(const KernelForm& form,
                                                        const KernelAnalysis& kernel);

}  // namespace regraph::rewrite
