#include "eval/compile/compiled_plan.h"

#include <map>
#include <utility>

namespace regraph {

CompiledPlan CompiledPlan::of(CompiledKernel kernel, const LaunchPlan& plan) {
  const auto shared = std::make_shared<const CompiledKernel>(std::move(kernel));
  CompiledPlan compiled;
  compiled.launches.assign(plan.launches.size(), shared);
  return compiled;
}

Hash128 CompiledPlan::machine_code() const {
  if (launches.size() == 1) return launches.front()->machine_code;
  Hasher hasher;
  for (const auto& kernel : launches)
    hasher.add(kernel->machine_code.low).add(kernel->machine_code.high);
  return hasher.finish();
}

Result<CompiledPlan> compile_plan(Compiler& compiler, const std::string& source,
                                  const LaunchPlan& plan, const std::string& architecture,
                                  const Cancellation& cancellation,
                                  const std::vector<std::string>& options) {
  if (plan.launches.empty()) return fail(ErrorCode::unsupported, "a plan without a launch");
  std::map<std::string, std::shared_ptr<const CompiledKernel>> by_name;
  CompiledPlan compiled;
  for (const Launch& launch : plan.launches) {
    std::shared_ptr<const CompiledKernel>& kernel = by_name[launch.kernel];
    if (!kernel) {
      CompileRequest request;
      request.source = source;
      request.kernel = launch.kernel;
      request.architecture = architecture;
      request.options = options;
      auto result = compiler.compile(request, cancellation);
      if (!result) return std::move(result).error();
      kernel = std::make_shared<const CompiledKernel>(std::move(*result));
    }
    compiled.launches.push_back(kernel);
  }
  return compiled;
}

}  // namespace regraph
