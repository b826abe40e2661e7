// Who does what: threads laid over the elements of a box as people do it at first, not always with
// neighbours in x on neighbouring addresses.
#pragma once

#include "dataset/generate/kernel_draft.h"

#include <string>
#include <vector>

namespace regraph::dataset {

struct Axis {
  std::string role;    // of the index
  std::string extent;  // text
};

struct LayoutChoice {
  bool flat = true;          // one number for all axes, taken apart with / and %
  bool swapped = true;       // neighbours in x an outer axis apart
  bool loops = false;        // the innermost axis is a loop of one thread
  bool early_return = true;  // else the body stands under an if: barriers come after
};

// One thread an element of the box whose axes are given, outermost first (one to three): declares
// their indices, guards the rest of the kernel and sets the launch.
void over_elements(KernelDraft& draft, const std::vector<Axis>& axes,
                   const LayoutChoice& choice = {});

// "blockIdx.x * blockDim.x + threadIdx.x" as this kernel spells it, for axis 'x', 'y' or 'z'.
[[nodiscard]] std::string global_index(const KernelDraft& draft, char axis);

}  // namespace regraph::dataset
