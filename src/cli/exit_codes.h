// What the programs' exit codes mean. Documented in the README.
#pragma once

namespace regraph::cli {

enum ExitCode : int {
  kImproved = 0,       // a verified, faster kernel was found
  kInternalError = 1,  // a bug, or the operating system failed
  kUsage = 2,          // a flag, file, device name, manifest, graph or run that cannot be read
  kNoImprovement = 3,  // the search ended and nothing was faster beyond the uncertainty
  kUnusableKernel =
      4,               // no usable kernel in the file; the original does not compile, run or verify
  kNoDevice = 5,       // no device to search for, or no CUDA toolkit
  kNoAnswer = 6,       // a language model had to apply the steps, and no answer ever came
  kInterrupted = 130,  // stopped by a signal
};

}  // namespace regraph::cli
