// Declarations that nothing mentions.
#pragma once

#include "rewrite/forms/ir.h"

#include <functional>

namespace regraph::rewrite {

// Returns the body without the declarations that nothing mentions, of those that may go: also
// without what only they mention.
[[nodiscard]] Block without_unused(Block body,
                                   const std::function<bool(const Declaration&)>& may_go);

// Returns the kernel's body without the variables and arrays, of shared memory too, that nothing
// mentions but the declaration itself, where its value does nothing else: what is left of code that
// the kernel's instance does not reach. For kernels without opaque code.
[[nodiscard]] Block without_unused_names(const Kernel& kernel);

}  // namespace regraph::rewrite
