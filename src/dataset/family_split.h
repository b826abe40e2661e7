// Which families are for training, which for validation, which for a last test.
#pragma once

#include "score/state_registry.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace regraph::dataset {

inline constexpr const char* kTrain = "train";
inline constexpr const char* kValidation = "validation";
inline constexpr const char* kTest = "test";
inline constexpr const char* kSplits[] = {kTrain, kValidation, kTest};

// Shares of the families; the rest is for training.
struct SplitShares {
  double validation = 0.1;
  double test = 0.1;
};

// Family -> split. Families that hold nearly the same kernel (learn/source_shingles.h) stay
// together. With three groups or more each split of a share above 0 has at least one; with fewer
// all is for training. A function of the families' names, of who stays together and of the seed:
// more kernels of a family move nothing.
[[nodiscard]] std::map<std::string, std::string> split_families(
    const std::vector<score::RegisteredProblem>& problems, std::uint64_t seed,
    const SplitShares& shares = {});

}  // namespace regraph::dataset
