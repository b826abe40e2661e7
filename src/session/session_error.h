// Why something a program was asked for cannot be had, as far as a program tells causes apart.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace regraph {

enum class FailureCause : std::uint8_t {
  usage,            // an option, file, device name, manifest, graph or run that cannot be used
  unusable_kernel,  // no usable kernel in the file; the original does not compile, run or verify
  no_device,        // no device to search for, or no CUDA toolkit
  internal,         // a bug, or the operating system failed
  interrupted,      // the caller asked to stop
};

// As the E of Result<T, SessionError>.
struct SessionError {
  FailureCause cause = FailureCause::internal;
  std::string message;  // what is wrong, where, why, and what to do next
  // What was assumed, left out or changed before it went wrong, and may be why.
  std::vector<std::string> notes = {};
};

// Shorthand: `return usage("...")` from any function that returns a Result with SessionError.
[[nodiscard]] inline SessionError usage(std::string message) {
  return {FailureCause::usage, std::move(message)};
}

// What an error of a lower room means to the user of a program: io and internal are the system's,
// cancelled is the caller's, and everything else comes from what was asked for.
[[nodiscard]] SessionError session_error(Error error);

}  // namespace regraph
