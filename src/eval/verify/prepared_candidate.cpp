#include "eval/verify/prepared_candidate.h"

#include <utility>

namespace regraph {

Result<std::shared_ptr<const PreparedCandidate>> prepare_trusted(CompiledPlan compiled,
                                                                 LaunchPlan plan) {
  Result<verify::LoadedPlan> loaded = verify::load_plan(compiled, plan);
  if (!loaded.ok()) return loaded.error();
  return std::make_shared<const PreparedCandidate>(
      PreparedCandidate{std::move(compiled), std::move(plan), *std::move(loaded)});
}

}  // namespace regraph
