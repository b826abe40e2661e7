// All prompts of a folder, and the messages made of them.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/prompt/prompt_file.h"
#include "llm/prompt/prompt_inputs.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace regraph::llm {

// Immutable once loaded; rendering is safe from several threads at once. Rendering depends on
// nothing but its inputs: equal inputs give byte-equal messages, a system and a user message; of
// repairs in format 2 a user message alone, which goes on with a conversation.
// Everything that was not written by the user's own files is cleaned (prompt_text.h), and source
// and messages are fenced off as data.
class PromptLibrary {
 public:
  // Reads every *.yaml file of `folder`: one of each kind. Errors: not_found (no such folder, a
  // kind that no file has and that is not optional), parse ("file:line: ..."; also two files of one
  // kind, and one of format 2 without one of the kind `common`), resource (a file over 256 KiB),
  // io.
  [[nodiscard]] static Result<PromptLibrary> load(const std::filesystem::path& folder);

  // Whether there is a prompt of that kind.
  [[nodiscard]] bool has(PromptKind kind) const {
    return prompts_[static_cast<std::size_t>(kind)].has_value();
  }
  // The prompt of that kind, which must be there, with its id, version and schema.
  [[nodiscard]] const PromptFile& prompt(PromptKind kind) const {
    return *prompts_[static_cast<std::size_t>(kind)];  // NOLINT(bugprone-unchecked-optional-access)
  }
  // Whether a repair is asked for by a message that goes on with the conversation.
  [[nodiscard]] bool repairs_in_conversation() const {
    return prompt(PromptKind::repair).format >= 2;
  }

  [[nodiscard]] std::vector<ChatMessage> apply(const ApplyInputs& inputs,
                                               const PromptLimits& limits = {}) const;
  // These two only where there are prompts of their kinds.
  [[nodiscard]] std::vector<ChatMessage> leap(const LeapInputs& inputs,
                                              const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> combine(const CombineInputs& inputs,
                                                 const PromptLimits& limits = {}) const;
  // `kind` is propose or, where there is one, together.
  [[nodiscard]] std::vector<ChatMessage> propose(const ProposeInputs& inputs,
                                                 const PromptLimits& limits = {},
                                                 PromptKind kind = PromptKind::propose) const;
  [[nodiscard]] std::vector<ChatMessage> judge_correction(const CorrectionInputs& inputs,
                                                          const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> judge_optimisation(const OptimisationInputs& inputs,
                                                            const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> repair(const RepairInputs& inputs,
                                                const PromptLimits& limits = {}) const;

 private:
  [[nodiscard]] std::vector<ChatMessage> render(PromptKind kind, const PromptValues& values) const;

  std::array<std::optional<PromptFile>, kPromptKindCount> prompts_;
};

}  // namespace regraph::llm
