#include "eval/verify/conditioning.h"

#include "eval/compile/compiled_plan.h"

#include <algorithm>

namespace regraph::verify {

Result<LoadedPlan> make_uncontracted(Compiler& compiler, const Problem& problem,
                                     const std::string& source, const std::string& architecture,
                                     const Cancellation& cancellation) {
  const auto usual = compile_plan(compiler, source, problem.launch, architecture, cancellation);
  if (!usual.ok()) return usual.error();
  const auto other =
      compile_plan(compiler, source, problem.launch, architecture, cancellation, {kNoContraction});
  if (!other.ok()) return other.error();
  const bool same =
      std::equal(usual->launches.begin(), usual->launches.end(), other->launches.begin(),
                 [](const auto& a, const auto& b) { return a->ptx == b->ptx; });
  if (same) return fail(ErrorCode::unsupported, "there is nothing to contract");
  return load_plan(*other, problem.launch);
}

}  // namespace regraph::verify
