#include "session/server_presets.h"

#include <array>

namespace regraph {

namespace {

using llm::JsonFormat;
using llm::ServerDialect;
using llm::TokenLimitField;

constexpr ServerDialect kUsual;
// Newer models of the service know only max_completion_tokens; older ones know both.
constexpr ServerDialect kOpenAi{.token_limit = TokenLimitField::max_completion_tokens};
// One answer a request.
constexpr ServerDialect kOneChoice{.several_choices = false};
constexpr ServerDialect kRouter{.several_choices = false, .reasoning = llm::ReasoningField::object};
// JSON can be asked for, a schema cannot.
constexpr ServerDialect kPlainJson{.json_format = JsonFormat::json_object,
                                   .several_choices = false};

constexpr std::array kPresets = {
    ServerPreset{"openai", "https://api.openai.com/v1", true, kOpenAi},
    ServerPreset{"vllm", "http://localhost:8000/v1", false, kUsual},
    ServerPreset{"sglang", "http://localhost:30000/v1", false, kUsual},
    ServerPreset{"llama.cpp", "http://localhost:8080/v1", false, kOneChoice},
    ServerPreset{"ollama", "http://localhost:11434/v1", false, kOneChoice},
    ServerPreset{"lm-studio", "http://localhost:1234/v1", false, kOneChoice},
    ServerPreset{"openrouter", "https://openrouter.ai/api/v1", true, kRouter},
    ServerPreset{"deepseek", "https://api.deepseek.com/v1", true, kPlainJson},
    ServerPreset{"mistral", "https://api.mistral.ai/v1", true, kUsual},
};

}  // namespace

std::span<const ServerPreset> server_presets() {
  return kPresets;
}

const ServerPreset* find_server_preset(std::string_view name) {
  for (const ServerPreset& preset : kPresets) {
    if (preset.name == name) return &preset;
  }
  return nullptr;
}

std::string server_preset_names() {
  std::string names;
  for (const ServerPreset& preset : kPresets)
    names += (names.empty() ? "" : ", ") + std::string(preset.name);
  return names;
}

}  // namespace regraph
