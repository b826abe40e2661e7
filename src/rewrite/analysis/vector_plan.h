// Which accesses of an element-wise kernel several neighbouring elements can share. Used by
// vectorize_global.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/vector_atomics.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace regraph::rewrite {

// One place of an array, `element + rest`, that is moved for `width` elements at once.
struct VectorAccess {
  std::string array;
  ScalarType scalar = ScalarType::f32;
  Polynomial rest;
  std::set<std::string> divisible;  // parameters that `width` must divide
  bool loads = false;               // its old value is read
  bool stores = false;              // written for every element
  // What the original calls the place, where that takes quotients of the element's number, which
  // all elements of a vector share; empty for others.
  std::vector<ExprPtr> indices = {};
};

struct VectorPlan {
  std::string element;             // the local that counts elements, consecutive in threadIdx.x
  const Branch* branch = nullptr;  // the kernel's one guarded statement
  ExprPtr limit;                   // element < limit is part of the guard
  std::vector<VectorAccess> accesses;
  std::vector<VectorAtomic> atomics;
  std::vector<const Declaration*> common;  // values that the elements of a vector share
  std::vector<ExprPtr> common_guards;      // the same of the guard's terms
  std::set<std::string> divisible;         // parameters the width must divide
};

// Index polynomial in which `element` stays a symbol; nothing for what is none.
[[nodiscard]] std::optional<Polynomial> element_polynomial(const ExprPtr& expr,
                                                           const std::string& element,
                                                           const Analysis& analysis);

struct VectorPlanQuestion {
  int width = 0;                   // elements of a vector
  int alignment = 0;               // of buffers, in bytes
  bool has_float_vectors = false;  // the device adds to them with one atomic
};
// The plan for a kernel in normal form. Error: refused, with what is in the way.
[[nodiscard]] Result<VectorPlan> find_vector_plan(const KernelForm& form,
                                                  const VectorPlanQuestion& question);

}  // namespace regraph::rewrite
