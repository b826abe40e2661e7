// What can be read off a kernel's code without running it, as numbers: its loops, how its accesses
// run along neighbouring threads, what its innermost loop does. No names, no sizes of the problem:
// what tells families apart and not what pays must not get in.
#pragma once

#include "kernel/launch_plan.h"
#include "source/ir.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace regraph::policy {

// In the order of KernelShape::values. Counts are log2(1 + count), extents log2.
inline constexpr std::string_view kShapeNames[] = {
    "block_x",                // threads along x
    "block_y",                // along y
    "block_threads",          // in all
    "loops",                  // loop statements
    "loop_depth",             // deepest nesting
    "constant_trips",         // product over the deepest nest of trip counts that are literals
    "unrolled_loops",         // with a pragma
    "statements",             // assignments, declarations and calls, but for loops' headers
    "inner_statements",       // of them at the deepest nesting
    "branches",               // if statements
    "conditionals",           // ?: expressions
    "barriers",               // __syncthreads()
    "atomics",                // calls
    "warp_intrinsics",        // shuffles, votes
    "functions",              // calls of pure mathematics
    "divisions",              // / and % of integers
    "global_loads",           // places that read global memory
    "global_stores",          // places that write it
    "inner_global_loads",     // at the deepest nesting
    "same_address_loads",     // equal for neighbours in x
    "unit_stride_loads",      // neighbours in x read neighbouring elements
    "constant_stride_loads",  // other literal strides
    "symbolic_stride_loads",  // stride is a size
    "unknown_stride_loads",   // not a polynomial
    "unit_stride_stores",     // as loads
    "other_stride_stores",    //
    "reused_loads",           // equal for neighbours in x, or in y, where there are any
    "vector_accesses",        // elements wider than 8 bytes
    "widest_element",         // bytes of a global element
    "shared_arrays",          // declared
    "shared_accesses",        // places
    "local_array_elements",   // of arrays that a thread keeps
    "accumulations",          // x += ... on a local variable or a local array
    "inner_accumulations",    // at the deepest nesting
    "restrict_parameters",    // share of pointers
    "launch_bounds",          // 1 when stated
};
inline constexpr std::size_t kShapeSize = std::size(kShapeNames);

struct KernelShape {
  std::array<float, kShapeSize> values{};
};

// The shape of `kernel` launched with `block`.
[[nodiscard]] KernelShape shape_of(const source::Kernel& kernel, const Dim3& block);

}  // namespace regraph::policy
