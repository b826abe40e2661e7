// A Triton kernel that somebody else wrote, as a version of another one.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "triton/cut_out.h"
#include "triton/kernel_text.h"

#include <filesystem>
#include <string>

namespace regraph::triton {

// Cuts the kernel of `original`'s name out of the Python file `source` with `script` (cut_out.py),
// which runs none of it. What its comment does not say, and what is the user's (`divisible`,
// `arguments`, `contract`), is as of `original`; `choices` are left out. Where there is no comment,
// and `given` has sizes, a launch in the file says constants, warps, stages and grid as far as it
// can be read at these. A constant of the original that the kernel does not take any more is left
// out, too. Errors: refused (a comment that does not
// fit, other parameters or arguments, a missing constant), compile (no such kernel, or what is no
// kernel), cancelled, io.
[[nodiscard]] Result<KernelText> read_foreign_text(const std::filesystem::path& python,
                                                   const std::filesystem::path& script,
                                                   const std::string& source,
                                                   const KernelText& original,
                                                   const GivenSizes& given,
                                                   const Cancellation& cancellation);

}  // namespace regraph::triton
