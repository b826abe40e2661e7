// The loop that adds up the products of a matrix product. Used by matrix_product.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <array>
#include <string>
#include <vector>

namespace regraph::rewrite {

struct ProductLoop {
  const Stmt* loop = nullptr;
  CountedLoop counted;
  bool is_wide = false;                 // the counter has 64 bits
  std::string sum;                      // what products are added to
  std::vector<ExprPtr> guards;          // under which they are
  std::array<ExprPtr, 2> values;        // the factors, elements of arrays, without conversions
  ScalarType factor = ScalarType::f32;  // their type: f32, f16 or bf16, where sums are of f32; i8
                                        // or u8, where sums are of i32
  ScalarType sum_type = ScalarType::f32;
};

// The kernel's only loop, if it adds up, in single precision or in integers, products of two
// elements of one type and does nothing else. `form` is in normal form. Error: refused, with what
// is in the way.
[[nodiscard]] Result<ProductLoop> find_product_loop(const KernelForm& form);

}  // namespace regraph::rewrite
