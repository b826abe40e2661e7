// Kernels in which every element of an input adds something to one place in memory. Used by
// grid_reduction.
#pragma once

#include "base/result.h"
#include "rewrite/analysis/kernel_analysis.h"
#include "rewrite/forms/ir.h"
#include "source/polynomial.h"

#include <map>
#include <string>

namespace regraph::rewrite {

// if (i < n) { ... atomicAdd(total, value); } with i the global index along x.
struct ElementSum {
  Polynomial count;    // n, of parameters
  Block element;       // what a thread does for its element, the atomic included
  const Stmt* atomic;  // there, at any depth
  ExprPtr target;      // where it adds: the same for all threads
  ExprPtr value;       // what it adds
  std::string type;    // of the sum
  ScalarType scalar = ScalarType::f32;
  // Arrays that every thread reads at its index, once or more and under no condition of its own,
  // with the type of their elements: a vector holds those of neighbours.
  std::map<std::string, ScalarType> streams;
};

// Error: refused, with what the kernel does besides. Valid as long as the form.
[[nodiscard]] Result<ElementSum> element_sum(const KernelForm& form, const Problem& problem);

}  // namespace regraph::rewrite
