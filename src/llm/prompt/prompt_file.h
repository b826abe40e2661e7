// One versioned prompt, as it stands in a file:
//
//   format: regraph-prompt/2
//   kind: apply              # see PromptKind
//   id: apply-step           # name of the text; a text that changes gets a new version
//   version: 1
//   system: |                # literal blocks ("|"), so that errors name the right line
//     ...
//   user: |
//     ... {{step.instruction}} ...
//   schema: |                # JSON, of kinds whose answer is JSON (json_schema.h)
//     {"type": "object", ...}
//
// In format 2 only the kind `common` has a system part. It stands at the beginning of all requests,
// its user part before that of the others, so that a server has most of a request in its cache. In
// format 1 every prompt is whole by itself, and shows a candidate that fails as the candidate.
#pragma once

#include "base/result.h"
#include "llm/prompt/json_schema.h"
#include "llm/prompt/prompt_template.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace regraph::llm {

enum class PromptKind : std::uint8_t {
  apply,               // one step, to the whole device code
  propose,             // which steps now
  judge_correction,    // why a candidate fails
  judge_optimisation,  // what limits a candidate
  repair,              // the smallest fix of a candidate that fails
  common,              // what the others begin with
  leap,                // several steps at once
  combine,             // the changes of two states in one kernel
  together,            // which steps now, and the first of them applied
};
inline constexpr int kPromptKindCount = static_cast<int>(PromptKind::together) + 1;
// Whether a folder of prompts may lack it; what it asks for is not asked for then.
[[nodiscard]] constexpr bool is_optional(PromptKind kind) {
  return kind >= PromptKind::common;
}
// Returns the word of the files, e.g. "judge_correction".
[[nodiscard]] const char* name(PromptKind kind);

// Placeholders that templates of this kind may use.
[[nodiscard]] std::span<const std::string_view> placeholders(PromptKind kind);

struct PromptFile {
  PromptKind kind = PromptKind::apply;
  std::string id;
  int version = 1;
  int format = 1;
  PromptTemplate system;  // empty: that of the kind `common`
  PromptTemplate user;
  std::optional<JsonSchema> schema;
};

// Reads a prompt. Every error is "name:line: what is wrong" (ErrorCode::parse): bad YAML, an
// unknown, missing or repeated key, an unknown placeholder, one that the kind cannot do without and
// that is not there, a schema where none or none where one belongs. Any bytes are safe to pass.
[[nodiscard]] Result<PromptFile> parse_prompt(std::string_view text, std::string_view name);

}  // namespace regraph::llm
