// Who judges the candidates of a session. An evaluator is added here and in evaluators.cpp:
// options, help texts and the choice of a device follow the list.
#pragma once

#include "base/cancellation.h"
#include "eval/evaluator.h"
#include "eval/gpu/gpu_evaluator.h"
#include "session/opened_problem.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph {

struct EvaluatorKind {
  enum class Gpu : std::uint8_t { not_used, if_there, required };

  std::string_view name;         // of --evaluator
  std::string_view description;  // after the name, in the help text
  Gpu gpu = Gpu::not_used;
};

// In the order they are listed to users.
[[nodiscard]] std::span<const EvaluatorKind> evaluator_kinds();
// Null for an unknown name.
[[nodiscard]] const EvaluatorKind* find_evaluator_kind(std::string_view name);

// An evaluator and, where it measures, what it measures on.
struct SessionEvaluator {
  std::string name;  // a kind, "auto" resolved
  std::unique_ptr<Evaluator> evaluator;
  gpu::GpuEvaluator* gpu = nullptr;      // `evaluator`, when it measures
  std::vector<std::string> gpu_bus_ids;  // of all GPUs that measure
};

// The evaluator called `name` for `opened`, on the GPU that was chosen if there is one. `opened`
// and `toolchain` must outlive it. Error: internal.
[[nodiscard]] Result<SessionEvaluator, SessionError> make_evaluator(
    const std::string& name, const OpenedProblem& opened, Toolchain& toolchain,
    const Installation& installation, std::uint64_t seed, const Cancellation& cancellation);

}  // namespace regraph
