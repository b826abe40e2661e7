// What code over a thread's place along an axis begins with (analysis/row_places.h). Used by
// attention_code and quantized_product_code.
#pragma once

#include "rewrite/analysis/row_places.h"
#include "rewrite/forms/names.h"
#include "rewrite/transform/code_lines.h"

#include <string>

namespace regraph::rewrite {

// The kernel's names, the coordinate's and those of the block's values.
[[nodiscard]] Names names_of_places(const RowPlaces& places);

// Ends blocks for which there is nothing to do, and declares the block's values.
void declare_values_of_block(CodeLines& lines, const RowPlaces& places);

// Declares `name` as the least of the rows' limits at row `row`; ends blocks whose first row is not
// below it.
void declare_row_limit(CodeLines& lines, const RowPlaces& places, const std::string& name,
                       const std::string& first_row);

}  // namespace regraph::rewrite
