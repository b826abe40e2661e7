// Everything a run was started with, so that it can be continued from nothing else.
#pragma once

#include "search/config.h"

#include <optional>
#include <string>
#include <vector>

namespace regraph {

struct RunDescription {
  std::string tool_version;
  std::string kernel;              // name of the __global__ function
  std::string source_path;         // as it was given; the file itself is not needed again
  std::string source;              // CUDA C++ text
  std::string manifest;            // YAML, complete: nothing is left to defaults or flags
  std::string graph;               // the ReGraph as YAML
  std::string policy;              // the policy's file, two hexadecimal digits a byte; or empty
  std::vector<std::string> notes;  // what was assumed when the problem was read
  SearchConfig config;             // config.device names the device
  bool jobs_chosen = false;        // false: as many workers as there are processors
};

// The configuration as JSON, every field by its name; read_config gives back an equal one and
// nothing for any other text.
[[nodiscard]] std::string config_text(const SearchConfig& config);
[[nodiscard]] std::optional<SearchConfig> read_config(const std::string& text);

}  // namespace regraph
