// All prompts of a folder, and the messages made of them.
#pragma once

#include "base/result.h"
#include "llm/chat/chat.h"
#include "llm/prompt/prompt_file.h"
#include "llm/prompt/prompt_inputs.h"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace regraph::llm {

// Immutable once loaded; rendering is safe from several threads at once. Rendering depends on
// nothing but its inputs: equal inputs give byte-equal messages, a system and a user message.
// Everything that was not written by the user's own files is cleaned (prompt_text.h), and source
// and messages are fenced off as data.
class PromptLibrary {
 public:
  // Reads every *.yaml file of `folder`: one of each kind. Errors: not_found (no such folder, a
  // kind that no file has), parse ("file:line: ..."; also two files of one kind), resource (a file
  // over 256 KiB), io.
  [[nodiscard]] static Result<PromptLibrary> load(const std::filesystem::path& folder);

  // The prompt of that kind, with its id, version and schema.
  [[nodiscard]] const PromptFile& prompt(PromptKind kind) const {
    return prompts_[static_cast<std::size_t>(kind)];
  }

  [[nodiscard]] std::vector<ChatMessage> apply(const ApplyInputs& inputs,
                                               const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> propose(const ProposeInputs& inputs,
                                                 const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> judge_correction(const CorrectionInputs& inputs,
                                                          const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> judge_optimisation(const OptimisationInputs& inputs,
                                                            const PromptLimits& limits = {}) const;
  [[nodiscard]] std::vector<ChatMessage> repair(const RepairInputs& inputs,
                                                const PromptLimits& limits = {}) const;

 private:
  [[nodiscard]] std::vector<ChatMessage> render(PromptKind kind, const PromptValues& values) const;

  std::array<PromptFile, kPromptKindCount> prompts_;
};

}  // namespace regraph::llm
