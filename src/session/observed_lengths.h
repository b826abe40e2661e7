// What is seen of a kernel's buffers when it runs, where its source does not say how long they are.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "eval/compile/compiler.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

struct ObservedBuffer {
  IntegerExpression length = 1;  // in elements, over sizes
  // What its accesses were: `out` where nothing of it is read, and no atomic is in the kernel.
  Direction direction = Direction::inout;
};

struct ObservedLengths {
  std::map<std::string, ObservedBuffer> buffers;             // by argument
  std::vector<std::string> sizes;                            // that lengths depend on
  std::vector<std::pair<std::string, std::string>> unknown;  // by argument: why not
};

// Runs the kernel on the interpreter at a few small sizes, in buffers that are long enough, and
// puts the places that it touches in terms of sizes. `draft` has the launch, and lengths of none or
// some of the buffers; those of `wanted` are found. Integer parameters that the draft gives no
// value of the user's (`fixed` are his) are tried as sizes. A buffer whose places depend on what
// another one holds is unknown. Errors: unsupported (structures, no launch), and what keeps a
// kernel from being loaded.
[[nodiscard]] Result<ObservedLengths> observe_lengths(const CompiledKernel& compiled,
                                                      const KernelSignature& signature,
                                                      const Manifest& draft,
                                                      const std::vector<std::string>& fixed,
                                                      const std::vector<std::string>& wanted,
                                                      const Cancellation& cancellation);

}  // namespace regraph
