// Code that moves several neighbouring elements of an array at once: by CUDA's vector types where
// the element has them, as words of the same size where it has not (half, 8 bits), and by several
// accesses of 16 bytes where they are more than one can move.
//
//   float4 v = *(const float4*)&A[i];             __align__(16) __half v[8];
//   ... v.x, v.y, v.z, v.w                        *(uint4*)&v[0] = *(const uint4*)&A[i];
//                                                 ... v[0], ..., v[7]
#pragma once

#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/ir.h"

#include <optional>
#include <string>

namespace regraph::rewrite {

// A variable that holds the elements, and one of them.
[[nodiscard]] Variable vector_variable(const std::string& name, const VectorShape& shape);
[[nodiscard]] ExprPtr vector_component(const std::string& name, const VectorShape& shape,
                                       int number);
// Declares the variable with the elements from `first` on, which is an element of an array.
[[nodiscard]] Block declare_vector(const std::string& name, const VectorShape& shape,
                                   const ExprPtr& first);
// The same where the condition holds, and with zeros elsewhere.
[[nodiscard]] Block declare_vector_where(const std::string& name, const VectorShape& shape,
                                         const ExprPtr& first, const ExprPtr& condition);
// Stores the variable's elements to `first` and its neighbours.
[[nodiscard]] Block store_vector(const std::string& name, const VectorShape& shape,
                                 const ExprPtr& first);
// Adds the variable's elements to `first` and its neighbours, `each` of them with one atomic:
// atomicAdd((float4*)&A[i], v), atomicAdd((__half2*)&A[i], ((const __half2*)&v[0])[0]); ...
[[nodiscard]] Block add_vector(const std::string& name, const VectorShape& shape, int each,
                               const ExprPtr& first);

// An array in registers for the elements, `outer` of them where that is set.
[[nodiscard]] Variable element_array(const std::string& name, const std::string& type,
                                     const VectorShape& shape, std::optional<int> outer = {});
// Moves the elements from `first` on to the neighbours of `held`, which is in such an array, or
// back. `vector`: a name for what is on its way.
[[nodiscard]] Block load_elements(const ExprPtr& held, const VectorShape& shape,
                                  const ExprPtr& first, const std::string& vector);
[[nodiscard]] Block store_elements(const ExprPtr& held, const VectorShape& shape,
                                   const ExprPtr& first, const std::string& vector);

}  // namespace regraph::rewrite
