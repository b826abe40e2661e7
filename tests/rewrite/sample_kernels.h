// Kernels in different styles for rewriting tests.
#pragma once

#include <string>
#include <vector>

namespace regraph::test {

struct SampleKernel {
  std::string name;
  std::string source;
  std::string manifest;  // YAML
};

[[nodiscard]] const std::vector<SampleKernel>& sample_kernels();

}  // namespace regraph::test
