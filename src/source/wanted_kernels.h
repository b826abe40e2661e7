// Which kernels of a file a request means. Used by extract.cpp.
#pragma once

#include "base/result.h"
#include "source/top_level.h"

#include <string>
#include <vector>

namespace regraph::source {

struct WantedKernel {
  std::string wanted;  // as it was asked for: "v2::scale<float>"
  std::string name;    // "scale"
  const TopLevelDeclaration* declaration = nullptr;
};

// The kernels called `wanted`, in that order; without any the only one of the file. `namespaces`
// are those of the declarations (namespaces.h), `file_kernels` the names of all kernels. Error:
// not_found, where there is none, several and none wanted, or a name means several.
[[nodiscard]] Result<std::vector<WantedKernel>> wanted_kernels(
    const std::vector<TopLevelDeclaration>& declarations,
    const std::vector<std::string>& namespaces, const std::vector<std::string>& file_kernels,
    const std::vector<std::string>& wanted, const std::string& file_name);

}  // namespace regraph::source
