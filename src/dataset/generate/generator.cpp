#include "dataset/generate/generator.h"

#include "dataset/generate/families.h"

#include <fmt/format.h>

#include <algorithm>

namespace regraph::dataset {

const std::vector<std::string>& generator_families() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const Family& family : families())
      names.emplace_back(family.name);
    return names;
  }();
  return kNames;
}

Result<GeneratedKernel> generate_kernel(std::string_view family, std::uint64_t seed,
                                        std::uint64_t index) {
  const auto found = std::ranges::find(families(), family, &Family::name);
  if (found == families().end()) {
    return fail(ErrorCode::invalid_argument,
                fmt::format("there is no family '{}' of generated kernels", family));
  }
  return found->write({found->name, seed, index});
}

}  // namespace regraph::dataset
