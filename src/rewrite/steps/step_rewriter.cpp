#include "rewrite/steps/step_rewriter.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace regraph::rewrite {

// In built_in_steps.cpp, which CMake writes.
std::vector<std::unique_ptr<StepRewriter>> make_built_in_steps();

Result<int> integer_parameter(const StepParameters& parameters, const std::string& name,
                              int least) {
  const auto text = text_parameter(parameters, name);
  if (!text) return text.error();
  int value = 0;
  for (const char digit : *text) {
    if (digit < '0' || digit > '9' || value > 1'000'000) {
      return fail(ErrorCode::invalid_argument,
                  "parameter '" + name + "' is '" + *text + "', not a small number");
    }
    value = value * 10 + (digit - '0');
  }
  if (value < least) {
    return fail(ErrorCode::invalid_argument,
                "'" + name + "' must be at least " + std::to_string(least));
  }
  return value;
}

Result<std::string> text_parameter(const StepParameters& parameters, const std::string& name) {
  const auto found = parameters.find(name);
  if (found == parameters.end()) {
    return fail(ErrorCode::invalid_argument, "the step needs a parameter '" + name + "'");
  }
  return found->second;
}

Status require_possible(const Launch& launch, const KernelAnalysis& kernel,
                        const std::string& what) {
  const auto most = static_cast<std::uint64_t>(kernel.limits().max_threads_per_block);
  if (launch.block.count() > most) {
    return refuse(what + "a block of " + std::to_string(launch.block.count()) +
                  " threads is over the device's limit of " + std::to_string(most));
  }
  for (const Symbols& sizes : kernel.problem().bench) {
    if (auto concrete = concretise(launch, sizes); !concrete)
      return refuse(what + concrete.error().message);
  }
  return {};
}

Status require_shared_bytes(std::int64_t bytes, const KernelAnalysis& kernel,
                            const std::string& what) {
  const std::int64_t most = kernel.limits().shared_bytes_per_block;
  if (bytes <= most) return {};
  return refuse(what + " " + std::to_string(bytes) + " bytes of the " + std::to_string(most) +
                " a block may declare");
}

const std::vector<const StepRewriter*>& built_in_steps() {
  static const std::vector<std::unique_ptr<StepRewriter>> kOwned = make_built_in_steps();
  static const std::vector<const StepRewriter*> kSteps = [] {
    std::vector<const StepRewriter*> steps;
    for (const auto& step : kOwned)
      steps.push_back(step.get());
    std::sort(steps.begin(), steps.end(), [](const StepRewriter* a, const StepRewriter* b) {
      return std::pair(a->position(), a->id()) < std::pair(b->position(), b->id());
    });
    return steps;
  }();
  return kSteps;
}

const StepRewriter* find_built_in_step(std::string_view id) {
  const auto& steps = built_in_steps();
  const auto found = std::find_if(steps.begin(), steps.end(),
                                  [&](const StepRewriter* step) { return step->id() == id; });
  return found == steps.end() ? nullptr : *found;
}

}  // namespace regraph::rewrite
