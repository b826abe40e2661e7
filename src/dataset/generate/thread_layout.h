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

// How often a layout is what it says, 0 to 1.
struct LayoutChoice {
  double flat = 0.2;      // one number for all axes, taken apart with / and %
  double swapped = 0.38;  // neighbours in x an outer axis apart
  double loops = 0.0;     // the innermost axis is a loop of one thread
};
inline constexpr double kRowLoops = 0.3;  // for families in which such a loop is natural

// One thread an element of the box whose axes are given, outermost first (one to three): declares
// their indices, guards the rest of the kernel and sets the launch.
void over_elements(KernelDraft& draft, const std::vector<Axis>& axes,
                   const LayoutChoice& choice = {});

// "blockIdx.x * blockDim.x + threadIdx.x" as this kernel spells it, for axis 'x', 'y' or 'z'.
[[nodiscard]] std::string global_index(const KernelDraft& draft, char axis);

}  // namespace regraph::dataset
