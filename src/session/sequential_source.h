// A problem's kernel made of a sequential function.
#pragma once

#include "base/cancellation.h"
#include "session/problem_source.h"
#include "session/session_error.h"
#include "session/toolchain.h"

#include <string>

namespace regraph {

// Puts naive kernels and their launches in the place of the function that `source.sequential`
// names: `source` is as if the user had given them. What the manifest says of launches goes first.
// Errors: unusable_kernel (a loop is not parallel, with file, line and the iterations that meet;
// the function cannot be read, or does not compile for the device), interrupted, internal.
[[nodiscard]] Result<void, SessionError> make_kernels_of_function(ProblemSource& source,
                                                                  const Toolchain& toolchain,
                                                                  const std::string& architecture,
                                                                  const Cancellation& cancellation);

}  // namespace regraph
