#include "llm/prompt/prompt_values.h"

#include "llm/prompt/facts_text.h"
#include "llm/prompt/problem_text.h"
#include "llm/prompt/prompt_text.h"
#include "source/extract.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace regraph::llm {

namespace {

std::string allowed_values(const Step& step, std::string_view separator) {
  std::vector<std::string> entries;
  for (const auto& [name, values] : step.parameters)
    entries.push_back(fmt::format("{} ({})", name, fmt::join(values, ", ")));
  return fmt::format("{}", fmt::join(entries, separator));
}

}  // namespace

std::string source_text(std::string_view label, std::string_view source, std::size_t limit) {
  return fenced(label, source::without_line_directives(source), limit);
}

void add_state(const PromptState& state, const Step* step, const PromptLimits& limits,
               PromptValues& values) {
  const Problem& problem = state.problem;
  const Candidate& candidate = state.candidate;
  const Evaluation& evaluation = state.evaluation;
  const std::string& kernel = problem.signature.name;
  values["kernel.name"] = one_line(kernel, limits.line);
  values["kernel.arguments"] = clean_text(arguments_text(problem));
  values["kernel.sizes"] = clean_text(sizes_text(problem, limits.tests));
  values["kernel.grants"] = grants_text(problem.assume);
  values["kernel.tolerance"] = tolerance_text(problem.check);
  values["candidate.source"] = source_text("device code", candidate.source, limits.source);
  values["candidate.launch"] = clean_text(launch_text(candidate.plan, kernel));
  values["candidate.launches"] = clean_text(other_launches_text(candidate.plan, kernel));
  values["candidate.time"] = evaluation_time_text(evaluation);
  values["candidate.bottleneck"] = one_line(evaluation.bottleneck, limits.line);
  values["candidate.verdict"] = name(evaluation.verdict);
  if (!evaluation.message.empty()) {
    values["candidate.message"] = fenced("message", evaluation.message, limits.message);
  }
  values["device"] = one_line(device_text(state.device), limits.line);
  values["counters"] = facts_text(evaluation.facts, step, limits.facts);
}

void add_step(const Step& step, const StepParameters& parameters, const PromptLimits& limits,
              PromptValues& values) {
  values["step.id"] = one_line(step.id, limits.line);
  values["step.name"] = one_line(step.name, limits.line);
  values["step.what"] = one_line(step.what, 2 * limits.line);
  values["step.instruction"] = one_line(step.instruction, 2 * limits.line);
  values["step.legality"] = one_line(step.legality, 2 * limits.line);
  values["step.parameters"] = one_line(allowed_values(step, "; "), limits.line);
  std::vector<std::string> chosen;
  for (const auto& [key, value] : parameters)
    chosen.push_back(fmt::format("{} = {}", key, value));
  values["step.values"] = one_line(fmt::format("{}", fmt::join(chosen, ", ")), limits.line);
}

void add_parent(const Candidate& parent, const Problem& problem, const PromptLimits& limits,
                PromptValues& values) {
  values["parent.source"] = source_text("parent", parent.source, limits.source);
  values["parent.launch"] = clean_text(launch_text(parent.plan, problem.signature.name));
}

std::string catalogue_text(const std::vector<const Step*>& catalogue, const PromptLimits& limits) {
  std::string out;
  for (const Step* step : catalogue) {
    std::string line = fmt::format("{}: {}. {}", step->id, step->name, step->what);
    if (!step->parameters.empty()) {
      line += fmt::format(" Parameters: {}.", allowed_values(*step, "; "));
    }
    out += one_line(line, limits.line) + "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

std::string done_text(const std::vector<std::string>& done, const PromptLimits& limits) {
  if (done.empty()) return "none";
  return one_line(fmt::format("{}", fmt::join(done, " -> ")), 2 * limits.line);
}

std::string failed_text(const std::vector<FailedAttempt>& failed, const PromptLimits& limits) {
  std::string out;
  const std::size_t first = failed.size() - std::min(failed.size(), limits.failed);
  for (std::size_t place = first; place < failed.size(); ++place) {
    out += one_line(failed[place].reason, limits.line) + "\n";
    out += fenced("message", failed[place].message, limits.message) + "\n";
  }
  if (!out.empty()) out.pop_back();
  return out;
}

}  // namespace regraph::llm
