// A thread's place in the grid along an axis as one coordinate. Used for products on tensor cores.
#pragma once

#include "affine/block_geometry.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/matrix_product.h"
#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <optional>
#include <span>
#include <string>

namespace regraph::rewrite {

// The polynomial with a thread's place along the axis as `coordinate`; nothing where it takes block
// and thread in any other way than as that place.
[[nodiscard]] std::optional<Polynomial> with_coordinate(const Polynomial& polynomial, int axis,
                                                        const Dim3& block,
                                                        const std::string& coordinate);

// Where threads stand along axes that have no coordinate.
enum class OtherAxes { one_thread, as_they_are };

// The kernel's expression with what asks for the thread replaced by coordinates.
[[nodiscard]] ExprPtr in_coordinates(const ExprPtr& expr, const KernelForm& form,
                                     const Launch& launch, std::span<const ProductAxis> axes,
                                     OtherAxes others = OtherAxes::one_thread);
// The same for the axes of a product.
[[nodiscard]] ExprPtr in_coordinates(const ExprPtr& expr, const KernelForm& form,
                                     const Launch& launch, const MatrixProduct& product);

}  // namespace regraph::rewrite
