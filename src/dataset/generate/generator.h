// Small CUDA kernels made by the thousand, to learn from: families with random expressions, types,
// guards, names, spelling and extents, each with its manifest. The text is this project's own.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::dataset {

struct GeneratedKernel {
  std::string family;
  std::string name;      // of the function and, with .cu, of the file; unique in its family
  std::string source;    // CUDA C++ that compiles on its own
  std::string manifest;  // YAML beside it, complete (docs/manifest.md)
};

// Thirty names, in a fixed order.
[[nodiscard]] const std::vector<std::string>& generator_families();

// Kernel number `index` of a family. A pure function of its arguments: another machine or a later
// call makes the same text. Error: invalid_argument, no such family.
[[nodiscard]] Result<GeneratedKernel> generate_kernel(std::string_view family, std::uint64_t seed,
                                                      std::uint64_t index);

struct GeneratorRequest {
  std::vector<std::string> families;  // empty: all
  std::uint64_t seed = 1;
  std::uint64_t per_family = 1;
};

struct GeneratorReport {
  std::uint64_t written = 0;
  std::uint64_t repeated = 0;  // left out: the text of an earlier one with other names
};

// Writes FOLDER/FAMILY/NAME.cu, NAME.regraph.yaml and FOLDER/corpus.yaml (learn/corpus.h). The
// folder must be missing or empty; after an error nothing is left behind. Errors:
// invalid_argument, io, resource.
[[nodiscard]] Result<GeneratorReport> write_generated(const std::filesystem::path& folder,
                                                      const GeneratorRequest& request);

}  // namespace regraph::dataset
