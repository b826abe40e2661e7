#include "llm/prompt/prompt_library.h"

#include "base/files.h"
#include "llm/prompt/example_text.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/prompt_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

namespace regraph::llm {

namespace {

constexpr std::size_t kLargestFile = 256 << 10;

// Every *.yaml in the folder, by name: the order of a directory is not the same everywhere.
Result<std::vector<std::filesystem::path>> prompt_paths(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error)) {
    if (entries->path().extension() == ".yaml") paths.push_back(entries->path());
  }
  if (error) {
    return fail(ErrorCode::not_found, fmt::format("{}: the folder of prompts cannot be read: {}",
                                                  folder.string(), error.message()));
  }
  std::ranges::sort(paths);
  return paths;
}

}  // namespace

Result<PromptLibrary> PromptLibrary::load(const std::filesystem::path& folder) {
  Result<std::vector<std::filesystem::path>> paths = prompt_paths(folder);
  if (!paths) return paths.error();
  PromptLibrary library;
  std::array<std::optional<std::string>, kPromptKindCount> found;
  for (const std::filesystem::path& path : *paths) {
    Result<std::string> text = read_file(path, kLargestFile);
    if (!text) return text.error();
    Result<PromptFile> prompt = parse_prompt(*text, path.string());
    if (!prompt) return prompt.error();
    const auto kind = static_cast<std::size_t>(prompt->kind);
    if (found[kind]) {
      return fail(ErrorCode::parse, fmt::format("{}:1: {} is a prompt of the kind '{}' already",
                                                path.string(), *found[kind], name(prompt->kind)));
    }
    found[kind] = path.string();
    library.prompts_[kind] = std::move(*prompt);
  }
  for (std::size_t kind = 0; kind < found.size(); ++kind) {
    if (found[kind]) continue;
    return fail(ErrorCode::not_found,
                fmt::format("{}: no file holds a prompt of the kind '{}'", folder.string(),
                            name(static_cast<PromptKind>(kind))));
  }
  return library;
}

std::vector<ChatMessage> PromptLibrary::render(PromptKind kind, const PromptValues& values) const {
  const PromptFile& file = prompt(kind);
  return {{.role = Role::system, .text = file.system.render(values)},
          {.role = Role::user, .text = file.user.render(values)}};
}

std::vector<ChatMessage> PromptLibrary::apply(const ApplyInputs& inputs,
                                              const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, &inputs.step, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
  if (inputs.example) {
    const EdgeExample& example = *inputs.example;
    values["example.from"] = one_line(example.from, limits.line);
    values["example.kernel"] = one_line(example.kernel, limits.line);
    values["example.before"] = source_text("before", example.before, limits.example);
    values["example.after"] = source_text("after", example.after, limits.example);
    const PromptFile& file = prompt(PromptKind::apply);
    if (file.user.uses("example.change") || file.system.uses("example.change"))
      values["example.change"] = change_text(example.before, example.after, limits);
    values["example.speedup"] = fmt::format("{:.2f}x", example.speedup);
  }
  values["failed"] = failed_text(inputs.failed, limits);
  return render(PromptKind::apply, values);
}

std::vector<ChatMessage> PromptLibrary::propose(const ProposeInputs& inputs,
                                                const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, nullptr, limits, values);
  values["catalogue"] = catalogue_text(inputs.catalogue, limits);
  values["done"] = done_text(inputs.done, limits);
  values["limit"] = std::to_string(inputs.limit);
  return render(PromptKind::propose, values);
}

std::vector<ChatMessage> PromptLibrary::judge_correction(const CorrectionInputs& inputs,
                                                         const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, &inputs.step, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
  add_parent(inputs.parent, inputs.state.problem, limits, values);
  return render(PromptKind::judge_correction, values);
}

std::vector<ChatMessage> PromptLibrary::judge_optimisation(const OptimisationInputs& inputs,
                                                           const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, nullptr, limits, values);
  values["catalogue"] = catalogue_text(inputs.catalogue, limits);
  values["done"] = done_text(inputs.done, limits);
  return render(PromptKind::judge_optimisation, values);
}

std::vector<ChatMessage> PromptLibrary::repair(const RepairInputs& inputs,
                                               const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, &inputs.step, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
  add_parent(inputs.parent, inputs.state.problem, limits, values);
  if (!inputs.advice.empty()) values["advice"] = fenced("advice", inputs.advice, limits.message);
  return render(PromptKind::repair, values);
}

}  // namespace regraph::llm
