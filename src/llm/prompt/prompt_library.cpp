#include "llm/prompt/prompt_library.h"

#include "base/files.h"
#include "llm/prompt/example_text.h"
#include "llm/prompt/facts_text.h"
#include "llm/prompt/problem_text.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/prompt_values.h"
#include "llm/prompt/story_text.h"

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
    if (found[kind] || is_optional(static_cast<PromptKind>(kind))) continue;
    return fail(ErrorCode::not_found,
                fmt::format("{}: no file holds a prompt of the kind '{}'", folder.string(),
                            name(static_cast<PromptKind>(kind))));
  }
  const auto needs_common = [](const std::optional<PromptFile>& file) {
    return file && file->format >= 2 && file->kind != PromptKind::common;
  };
  if (!library.has(PromptKind::common) && std::ranges::any_of(library.prompts_, needs_common)) {
    return fail(ErrorCode::not_found,
                fmt::format("{}: prompts of format 2 need one of the kind 'common' beside them",
                            folder.string()));
  }
  return library;
}

std::vector<ChatMessage> PromptLibrary::render(PromptKind kind, const PromptValues& values) const {
  const PromptFile& file = prompt(kind);
  const std::string task = file.user.render(values);
  if (file.format == 1) {
    return {{.role = Role::system, .text = file.system.render(values)},
            {.role = Role::user, .text = task}};
  }
  if (kind == PromptKind::repair) return {{.role = Role::user, .text = task}};
  const PromptFile& common = prompt(PromptKind::common);
  return {{.role = Role::system, .text = common.system.render(values)},
          {.role = Role::user, .text = common.user.render(values) + task}};
}

std::vector<ChatMessage> PromptLibrary::apply(const ApplyInputs& inputs,
                                              const PromptLimits& limits) const {
  PromptValues values;
  const bool whole = prompt(PromptKind::apply).format == 1;
  add_state(inputs.state, whole ? &inputs.step : nullptr, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
  add_reason(inputs.reason, limits, values);
  values["step.counters"] =
      step_facts_text(inputs.state.evaluation.facts, inputs.step, limits.facts);
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

std::vector<ChatMessage> PromptLibrary::leap(const LeapInputs& inputs,
                                             const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, nullptr, limits, values);
  add_reason(inputs.reason, limits, values);
  values["plan"] = plan_text(inputs.plan, limits);
  values["failed"] = failed_text(inputs.failed, limits);
  return render(PromptKind::leap, values);
}

std::vector<ChatMessage> PromptLibrary::combine(const CombineInputs& inputs,
                                                const PromptLimits& limits) const {
  PromptValues values;
  add_state(inputs.state, nullptr, limits, values);
  add_reason(inputs.reason, limits, values);
  const std::string& kernel = inputs.state.problem.signature.name;
  values["other.path"] = clean_text(other_path_text(inputs.other, limits));
  values["other.source"] = source_text("other state", inputs.other_shown, limits.source);
  values["other.launch"] = clean_text(launch_text(inputs.other.candidate->plan, kernel));
  values["failed"] = failed_text(inputs.failed, limits);
  return render(PromptKind::combine, values);
}

std::vector<ChatMessage> PromptLibrary::propose(const ProposeInputs& inputs,
                                                const PromptLimits& limits, PromptKind kind) const {
  PromptValues values;
  add_state(inputs.state, nullptr, limits, values);
  values["catalogue"] = catalogue_text(inputs.catalogue, limits);
  values["done"] = done_text(inputs.done, limits);
  values["limit"] = std::to_string(inputs.limit);
  values["leaps"] = inputs.leaps ? "yes" : "";
  if (inputs.combinations) values["others"] = clean_text(others_text(inputs.state, limits));
  return render(kind, values);
}

std::vector<ChatMessage> PromptLibrary::judge_correction(const CorrectionInputs& inputs,
                                                         const PromptLimits& limits) const {
  const bool whole = prompt(PromptKind::judge_correction).format == 1;
  PromptValues values;
  add_failing(inputs.state, inputs.parent, whole ? &inputs.step : nullptr, whole, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
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
  const bool whole = prompt(PromptKind::repair).format == 1;
  PromptValues values;
  add_failing(inputs.state, inputs.parent, whole ? &inputs.step : nullptr, whole, limits, values);
  add_step(inputs.step, inputs.parameters, limits, values);
  if (!inputs.show_source) values["failing.source"].clear();
  if (!inputs.advice.empty()) values["advice"] = fenced("advice", inputs.advice, limits.message);
  return render(PromptKind::repair, values);
}

}  // namespace regraph::llm
