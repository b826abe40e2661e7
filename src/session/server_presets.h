// Servers of language models by name: where they usually listen and what they accept.
#pragma once

#include "llm/client/server_dialect.h"

#include <span>
#include <string>
#include <string_view>

namespace regraph {

struct ServerPreset {
  std::string_view name;  // of --llm-server
  std::string_view url;
  bool needs_key = false;
  llm::ServerDialect dialect;
};

// All presets, in the order they are listed to users. docs/language-models.md has a section each.
[[nodiscard]] std::span<const ServerPreset> server_presets();

// Returns the preset of that name, or null.
[[nodiscard]] const ServerPreset* find_server_preset(std::string_view name);

// "openai, vllm, ...".
[[nodiscard]] std::string server_preset_names();

}  // namespace regraph
