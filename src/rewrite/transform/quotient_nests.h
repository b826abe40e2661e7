// Loops whose counter is taken apart by a size, as a nest of loops over the parts. Used by
// row_kernel.
//
//   for (i = 0; i < heads * size; ++i)              for (i_row = 0; i_row < heads; ++i_row)
//     y[place(i / size) + i % size] = x[i];    ->     for (i_column = 0; i_column < size; ++i_column)
//                                                       y[place(i_row) + i_column] = x[i_row * size + i_column];
#pragma once

#include "rewrite/forms/ir.h"

namespace regraph::rewrite {

// The kernel's body with such nests: of loops that count by ones from zero up to a multiple of what
// they divide their counter by, a number or a product of parameters. Iterations and their order
// are the same.
[[nodiscard]] Block with_quotient_nests(const Kernel& kernel);

}  // namespace regraph::rewrite
