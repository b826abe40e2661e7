// Slow variants of a corpus's kernels as a corpus of their own: FOLDER/FAMILY/NAME--LABEL.cu with
// manifests beside them, and a corpus.yaml that says `derived: true`. A variant is of the family of
// the kernel that it was made from.
#pragma once

#include "base/result.h"
#include "learn/corpus.h"
#include "learn/kernel_variation.h"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::learn {

struct VariedKernel {
  CorpusKernel kernel;
  VariationReport report;
};

struct WrittenVariants {
  std::vector<std::string> names;  // "FAMILY/NAME--LABEL", of what was written
  std::size_t known = 0;           // left out: a kernel or another variant is the same
};

// Whether variants may be written to `folder`: it is missing, or holds nothing but variants.
// Errors: invalid_argument, also where it lies in `source`, the folder of their kernels; as
// read_corpus.
[[nodiscard]] Status may_hold_variants(const std::filesystem::path& folder,
                                       const std::filesystem::path& source);

// Writes them, what is in `folder` already stays or is replaced by its like. `corpus` says which
// families are sealed, controls and kin. Errors: as may_hold_variants, io.
[[nodiscard]] Result<WrittenVariants> write_variants(const std::filesystem::path& folder,
                                                     const Corpus& corpus,
                                                     const std::vector<VariedKernel>& kernels);

}  // namespace regraph::learn
