// Makes the CUDA compiler's messages fit to show: to people, to language models, in reports.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace regraph::compile_internal {

inline constexpr std::size_t kLogLimitBytes = std::size_t{8} << 10;

// Returns `log` with "kernel.cu(12)" as "kernel.cu:12", absolute paths cut to their last part,
// ptxas' timings dropped, everything but printable ASCII and line feeds replaced, and at most
// kLogLimitBytes. With `errors_first` the text starts at the first error, since what stands before
// is warnings.
[[nodiscard]] std::string clean_log(std::string_view log, bool errors_first);

}  // namespace regraph::compile_internal
