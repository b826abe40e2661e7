// Which accesses of an element-wise kernel several neighbouring elements can share. Used by
// vectorize_global.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/common_values.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/analysis/vector_atomics.h"
#include "rewrite/analysis/vector_type.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace regraph::rewrite {

// Parameters with what has to divide them.
using Divisible = std::map<std::string, std::int64_t>;

// Neighbours in an array that are moved for `width` elements of the kernel at once:
//
//   x[i + rest]                             one for each
//   x[2 * i + rest], x[2 * i + rest + 1]    a step of two for each
//   x[i / 4 + rest]                         one that four of them share
struct VectorAccess {
  std::string array;
  ScalarType scalar = ScalarType::f32;
  Polynomial rest;
  std::int64_t step = 1;     // elements of the array for each of the kernel's
  std::int64_t sharers = 1;  // elements of the kernel for each of the array's
  Divisible divisible = {};
  bool loads = false;   // its old value is read
  bool stores = false;  // written for every element
  // What the original calls the places of an element, each with its number in the step.
  struct Place {
    ExprPtr index;
    std::int64_t number = 0;
  };
  std::vector<Place> places = {};
  // The place is element + rest as the kernel's own names say it: no quotient, which all elements
  // of a vector share, is part of it.
  bool is_plain = true;

  // The vector for `width` elements, and where in it element `element` has its place `number`.
  [[nodiscard]] VectorShape shape(int width) const {
    return {scalar, static_cast<int>(width * step / sharers)};
  }
  [[nodiscard]] int component(std::int64_t element, std::int64_t number) const {
    return static_cast<int>(element * step / sharers + number);
  }
};

struct VectorPlan {
  std::string element;             // the local that counts elements, consecutive in threadIdx.x
  const Branch* branch = nullptr;  // the kernel's one guarded statement
  ExprPtr limit;                   // element < limit is part of the guard
  std::vector<VectorAccess> accesses;
  std::vector<VectorAtomic> atomics;
  std::vector<ExprPtr> common_guards;  // terms of the guard that the elements of a vector share
  Divisible divisible;                 // for all of that
  CommonValues common;                 // for which more parameters may have to be divided
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
