#include "llm/prompt/prompt_values.h"

#include "llm/prompt/facts_text.h"
#include "llm/prompt/problem_text.h"
#include "llm/prompt/prompt_text.h"
#include "llm/prompt/story_text.h"
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

std::string shown_source(std::string_view label, const PromptState& state,
                         const PromptLimits& limits) {
  return source_text(label, state.shown.value_or(state.candidate.source), limits.source);
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
  values["candidate.source"] = shown_source("device code", state, limits);
  values["candidate.launch"] = clean_text(launch_text(candidate.plan, kernel));
  values["candidate.launches"] = clean_text(other_launches_text(candidate.plan, kernel));
  values["candidate.time"] = evaluation_time_text(evaluation);
  values["candidate.floor"] = floor_text(evaluation);
  values["candidate.bottleneck"] = one_line(evaluation.bottleneck, limits.line);
  values["candidate.verdict"] = name(evaluation.verdict);
  if (!evaluation.message.empty()) {
    values["candidate.message"] = fenced("message", evaluation.message, limits.message);
  }
  values["device"] = one_line(device_text(state.device), limits.line);
  values["counters"] = facts_text(evaluation.facts, step, limits.facts);
  values["story.original"] = original_text(state);
  values["story.best"] = best_text(state);
  values["story.path"] = clean_text(path_text(state));
  values["story.tried"] = clean_text(tried_text(state, limits));
}

void add_reason(const std::string& reason, const PromptLimits& limits, PromptValues& values) {
  values["step.reason"] = one_line(reason, 2 * limits.line);
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

void add_failing(const PromptState& failing, const PromptState& parent, const Step* step,
                 bool failing_is_candidate, const PromptLimits& limits, PromptValues& values) {
  const std::string& kernel = failing.problem.signature.name;
  add_state(failing_is_candidate ? failing : parent, step, limits, values);
  values["parent.source"] = shown_source("parent", parent, limits);
  values["parent.launch"] = clean_text(launch_text(parent.candidate.plan, kernel));
  values["failing.source"] = shown_source("failing kernel", failing, limits);
  values["failing.launch"] = clean_text(launch_text(failing.candidate.plan, kernel));
  values["failing.verdict"] = name(failing.evaluation.verdict);
  values["failing.message"] = fenced("message", failing.evaluation.message, limits.message);
}

std::string plan_text(const std::vector<Step>& plan, const PromptLimits& limits) {
  std::string out;
  for (std::size_t place = 0; place < plan.size(); ++place) {
    const Step& step = plan[place];
    std::string line = fmt::format("{}. {}: {}", place + 1, step.id, step.name);
    if (!step.instruction.empty()) line += ". How it is usually done: " + step.instruction;
    if (place > 0) out += '\n';
    out += one_line(line, 2 * limits.line);
  }
  return out;
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
