// Shared arrays that hold a copy of global memory go, and what was read from them is read where it
// came from. Used by untile and by its opposite, no_tile.
//
//   s[ty][tx] = row < m ? a[row * k + tx] : 0;  barrier;  ... s[ty][i] ...
// becomes
//   ... (row < m ? a[row * k + i] : 0) ...
#pragma once

#include "base/result.h"
#include "kernel/launch_plan.h"
#include "rewrite/forms/ir.h"
#include "source/analysis.h"

namespace regraph::rewrite {

// The kernel's body without the first array that can go. `analysis` is of the kernel. Error:
// refused, with the reason of the array that was looked at last.
//
// An array can go when it is filled in one place that all threads reach, each thread an element of
// its own, from buffers that the kernel only reads; when all reads stand behind it in the same
// block of statements, with a barrier in between and one before the next fill; and when what is
// copied is a function of the thread's indices and of names that have one value for the block, so
// that it can be told of any other thread. An element that nobody fills must not be read: indices
// stay within the block, and in a loop a guard around the fill needs a value for the others, or has
// to be the same in each round, so that nobody ever filled the element.
[[nodiscard]] Result<Block> without_staged_copy(const Kernel& kernel, const Analysis& analysis,
                                                const Dim3& block);

// The kernel without any that can go, and without barriers where these order nothing any more.
// Error: refused, where none can.
[[nodiscard]] Result<Kernel> without_staged_copies(const Kernel& kernel, const Dim3& block);

// The kernel's body without arrays of the thread's own that are copies in the same way, filled by
// loops: what is read of them is read where it came from.
//   for (i = 0; i < 8; ++i) a[i] = A[row + i];  ... a[j] ...   ->   ... A[row + j] ...
[[nodiscard]] Block without_private_copies(const Kernel& kernel, const Dim3& block);

}  // namespace regraph::rewrite
