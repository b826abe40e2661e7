#include "rewrite/steps/online_rows.h"

#include "rewrite/analysis/online_updates.h"
#include "rewrite/transform/thread_serialisation.h"
#include "source/walk.h"

#include <utility>

namespace regraph::rewrite {

namespace {

const StepParameters kAllRows = {{"rows", "all"}};
const StepParameters kOnline = {{"form", "online"}};

Result<KernelState> made_online(const KernelAnalysis& kernel) {
  if (Status status = require_online_sums(kernel); !status) return status.error();
  if (is_online(kernel)) return kernel.state();
  return apply_members(kernel, online_members(kernel));
}

}  // namespace

bool is_online(const KernelAnalysis& kernel) {
  bool found = false;
  walk(kernel.kernel().body, [&](const Stmt& stmt) {
    if (found || !is<ForLoop>(stmt)) return;
    const auto updates = online_updates(body_of(stmt), kernel.analysis());
    found = updates && !updates->maximum.empty();
  });
  return found;
}

Status require_online_sums(const KernelAnalysis& kernel) {
  if (is_online(kernel)) return {};
  const Status fused = find_built_in_step("online_fusion")->match(kernel, kOnline);
  if (fused) return {};
  // Sums in memory become sums in registers.
  if (find_built_in_step("scalar_replacement")->match(kernel, kAllRows)) return {};
  return refuse("online_fusion: " + fused.error().message);
}

std::vector<MacroMember> online_members(const KernelAnalysis& kernel) {
  return {{"scalar_replacement", {kAllRows}, true},
          {"online_fusion", {kOnline}, is_online(kernel)}};
}

Result<std::shared_ptr<const KernelState>> serialised_rows(const KernelAnalysis& kernel) {
  std::shared_ptr<const KernelState> result;
  if (!kernel.analysis().has_shared()) return result;
  auto serialised = serialise_threads(kernel);
  if (!serialised) {
    return refuse("the kernel uses shared memory already (for more than trees of a row: " +
                  serialised.error().message + ")");
  }
  result = std::make_shared<const KernelState>(std::move(*serialised));
  return result;
}

Result<KernelState> online_rows(const KernelAnalysis& kernel) {
  const auto serialised = serialised_rows(kernel);
  if (!serialised) return serialised.error();
  if (!*serialised) return made_online(kernel);
  return made_online(KernelAnalysis(**serialised, kernel.problem(), kernel.limits()));
}

}  // namespace regraph::rewrite
