// Who judges the candidates of a session. An evaluator is added here and in evaluators.cpp:
// options, help texts and the choice of a device follow the list.
#pragma once

#include "base/cancellation.h"
#include "eval/evaluator.h"
#include "eval/gpu/driver/gpu_disturbances.h"
#include "eval/measurer.h"
#include "session/opened_problem.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace regraph {

// An evaluator and, where it measures, what it measures on.
struct SessionEvaluator {
  std::string name;  // a kind, "auto" resolved
  std::unique_ptr<Evaluator> evaluator;
  std::unique_ptr<gpu::DisturbanceLog> disturbances;  // of all GPUs here that measure
  std::unique_ptr<Measurer> measurer;  // null: nothing is measured here; uses the two above
};

// What an evaluator is made for. All must outlive it.
struct EvaluatorPlace {
  const OpenedProblem& opened;
  Toolchain& toolchain;
  const Installation& installation;
  std::uint64_t seed = 0;
};

struct EvaluatorKind {
  enum class Gpu : std::uint8_t { not_used, if_there, required };

  std::string_view name;         // of --evaluator
  std::string_view description;  // after the name, in the help text
  Gpu gpu = Gpu::not_used;
  // Error: internal.
  Result<SessionEvaluator, SessionError> (*make)(const EvaluatorPlace& place,
                                                 const Cancellation& cancellation) = nullptr;
};

// In the order they are listed to users.
[[nodiscard]] std::span<const EvaluatorKind> evaluator_kinds();
// Null for an unknown name.
[[nodiscard]] const EvaluatorKind* find_evaluator_kind(std::string_view name);

}  // namespace regraph
