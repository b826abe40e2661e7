// What a manifest says of a kernel, out of the numbers that its program launched it with.
#pragma once

#include "base/result.h"
#include "capture/problem/captured_kernel.h"
#include "kernel/manifest.h"
#include "kernel/problem.h"

#include <filesystem>
#include <string>
#include <vector>

namespace regraph::capture {

struct DerivedManifest {
  Manifest manifest;
  std::vector<std::string> notes;
};

// The manifest of a captured kernel whose source has this signature. Integers that differ between
// launches become size symbols, and where all launches are alike those that are no structural
// constants; lengths and grids are expressions of them where some fit. The largest launch of the
// program is the bench size, launches that are cheap to repeat are tests. Pointers into one
// allocation overlap. `folder` is the capture's; names of data files are absolute. Errors:
// invalid_argument (the launches are of another signature), unsupported (what a manifest cannot
// say), io.
[[nodiscard]] Result<DerivedManifest> derive_manifest(const CapturedKernel& kernel,
                                                      const KernelSignature& signature,
                                                      const std::filesystem::path& folder);

// The same of several kernels in a row; `signatures` are those of its stages. The manifest has
// `launches`. Errors besides: those of join_sequence.
[[nodiscard]] Result<DerivedManifest> derive_manifest_of_stages(
    const CapturedKernel& kernel, const std::vector<KernelSignature>& signatures,
    const std::filesystem::path& folder);

}  // namespace regraph::capture
