// Completes a manifest with several launches from the source of their kernels.
#pragma once

#include "infer/infer_manifest.h"
#include "source/clang_frontend.h"

#include <vector>

namespace regraph::infer {

// As infer_manifest, for a manifest with `launches`: what each kernel does with its parameters is
// put together over the launches in order, under the names of what is passed. A buffer that an
// earlier launch wrote as a whole is an output, though later ones read it. `kernels` are those that
// are launched, in any order. A launch that does not fit its kernel is left to make_problem.
[[nodiscard]] InferredManifest infer_launches(const Manifest& given,
                                              const std::vector<source::ParsedKernel>& kernels);

}  // namespace regraph::infer
