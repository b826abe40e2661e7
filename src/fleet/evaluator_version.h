// Which evaluations may stand beside each other: those of one build and one CUDA compiler.
#pragma once

#include <filesystem>
#include <string>

namespace regraph::fleet {

// E.g. "0.1.0-4f2a9c01b7de-9f31ab02": the release, the sources that this program was built from,
// and the library that compiles kernels here. Of programs with equal versions each finds out the
// same of a candidate, where times are predicted.
[[nodiscard]] std::string evaluator_version(const std::filesystem::path& nvrtc_library);

}  // namespace regraph::fleet
