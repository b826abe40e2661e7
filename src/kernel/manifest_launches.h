// The manifest's keys `launch`, `launches` and `scratch`. Private to the manifest reader.
#pragma once

#include "kernel/manifest.h"
#include "kernel/manifest_values.h"

namespace regraph::manifest_internal {

// {block, grid, smem}. Errors, here and below, are "path:line: ...".
[[nodiscard]] Status read_launch(const YAML::Node& node, const Place& place, Launch& launch);

// A list of {kernel, block, grid, smem, args}.
[[nodiscard]] Status read_launches(const YAML::Node& node, const Place& place,
                                   std::vector<ManifestLaunch>& launches);

// A map: name -> {type, shape}.
[[nodiscard]] Status read_scratch(const YAML::Node& node, const Place& place,
                                  std::vector<std::pair<std::string, ManifestScratch>>& scratch);

}  // namespace regraph::manifest_internal
