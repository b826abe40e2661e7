// Completes a manifest from the source: directions, buffer lengths, launch and sizes.
#pragma once

#include "kernel/manifest.h"
#include "source/host_launch.h"
#include "source/ir.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph::infer {

struct InferredManifest {
  Manifest manifest;               // the one given, with what could be inferred put in
  std::vector<std::string> notes;  // one sentence for each assumption
  // What could not be inferred although nothing says it, by argument ("" for the launch): why.
  std::vector<std::pair<std::string, std::string>> unknown;
  std::vector<std::string> own_sizes;  // those that nothing says a value of
};

// What `given` says is never changed. `host` is the launch in the file's host code, if any. Without
// `unit` (a kernel that the rewriter cannot read) only the host's launch is used.
[[nodiscard]] InferredManifest infer_manifest(const Manifest& given,
                                              const KernelSignature& signature,
                                              const std::optional<source::Unit>& unit,
                                              const std::optional<source::HostLaunch>& host);

}  // namespace regraph::infer
