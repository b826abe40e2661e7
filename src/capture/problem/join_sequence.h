// Several kernels in a row as one with all their arguments: what two of them are passed alike
// stands there once.
//
//     stages   block_sums(x, partial, n)   final_sum(data, out, count)
//     joined   (x, partial, n, out, count)     data is partial
#pragma once

#include "base/result.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/problem.h"

#include <string>
#include <vector>

namespace regraph::capture {

struct JoinedSequence {
  KernelSignature signature;  // of all arguments, and the kernels' `__constant__` variables
  CapturedKernel kernel;      // with the slots and pointers of these arguments alone
  std::vector<std::vector<std::string>> arguments;  // what each stage is passed, by their names
  std::vector<std::string> kernels;                 // of each stage
};

// `signatures` are those of the kernel's stages. Pointers that lead to the same place in every kept
// launch are one argument; so are scalars of one value, where they have one name or the launches
// show that it is no accident. Errors: invalid_argument (launches of other signatures), unsupported
// (structures by value, two instances of one template).
[[nodiscard]] Result<JoinedSequence> join_sequence(const CapturedKernel& kernel,
                                                   const std::vector<KernelSignature>& signatures);

}  // namespace regraph::capture
