// Which accesses of an element-wise kernel several neighbouring elements can share. Used by
// vectorize_global.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/block_geometry.h"
#include "source/analysis.h"

#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// One place of an array, `element + rest`, that is moved for `width` elements at once.
struct VectorAccess {
  std::string array;
  std::string vector_type;  // float4, ...
  source::Polynomial rest;
  bool loads = false;   // its old value is read
  bool stores = false;  // written for every element
};

struct VectorPlan {
  std::string element;  // the local that counts elements, consecutive in threadIdx.x
  const source::Branch* branch = nullptr;  // the kernel's one guarded statement
  source::ExprPtr limit;                   // element < limit is part of the guard
  std::vector<VectorAccess> accesses;
  std::set<std::string> divisible;  // parameters the width must divide
};

// Index polynomial in which `element` stays a symbol; nothing for what is none.
[[nodiscard]] std::optional<source::Polynomial> element_polynomial(
    const source::ExprPtr& expr, const std::string& element, const source::Analysis& analysis);

// Plans for a normalised kernel. Error: refused.
[[nodiscard]] Result<VectorPlan> plan_vectors(const source::Kernel& kernel,
                                              const source::Analysis& analysis, int width,
                                              int alignment);

}  // namespace regraph::rewrite
