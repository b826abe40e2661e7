// A thread's place in the grid along an axis as one coordinate. Used for matrix products.
#pragma once

#include "rewrite/analysis/block_geometry.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/matrix_product.h"
#include "source/ir.h"
#include "source/polynomial.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// The polynomial with a thread's place along the axis as `coordinate`; nothing where it takes block
// and thread in any other way than as that place.
[[nodiscard]] std::optional<source::Polynomial> with_coordinate(
    const source::Polynomial& polynomial, int axis, const Dim3& block,
    const std::string& coordinate);

// The kernel's expression with what asks for the thread replaced by coordinates.
[[nodiscard]] source::ExprPtr in_coordinates(const source::ExprPtr& expr, const KernelForm& form,
                                             const Launch& launch, const MatrixProduct& product);

}  // namespace regraph::rewrite
