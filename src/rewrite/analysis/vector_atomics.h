// Which atomic additions of an element's code neighbouring elements can do together, as vectors:
//
//   const int row = i / width;                              // the same for a vector, if W | width
//   atomicAdd(&out[index[row] * width + i % width], f(i));   // W neighbours, if W | width
//
// Used by vectorize_global.
#pragma once

#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Elements of the widest vector that one atomic adds to, `width` at most; 1 where there is none.
// CUDA has float2 and float4 from sm_90 on, and pairs of __half and of __nv_bfloat16.
[[nodiscard]] int atomic_width(ScalarType scalar, int width, bool has_float_vectors);

struct VectorAtomic {
  const Stmt* statement = nullptr;  // atomicAdd(&array[index], value);
  std::string array;
  ScalarType scalar = ScalarType::f32;
  int each = 1;                 // elements that one atomic adds to
  ExprPtr index;                // where a single element's is
  std::vector<ExprPtr> guards;  // under which it happens, the same for all elements of a vector
};

struct VectorAtomics {
  std::vector<VectorAtomic> updates;
  std::set<std::string> divisible;  // parameters that the width must divide
  std::string obstacles;            // why other additions are not among them
};

// Of a kernel whose threads are known by `element` alone, whose code is `branch`, the last
// statement, without loops. A vector begins where `width` divides `element`, which is not negative.
// `alignment`: of buffers, in bytes.
struct VectorAtomicsQuestion {
  const Kernel& kernel;
  const Analysis& analysis;
  const std::string& element;
  const Branch& branch;
  int width;
  int alignment;
  bool has_float_vectors;
};
[[nodiscard]] VectorAtomics find_vector_atomics(const VectorAtomicsQuestion& question);

}  // namespace regraph::rewrite
