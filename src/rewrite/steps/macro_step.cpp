#include "rewrite/steps/macro_step.h"

#include "source/walk.h"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace regraph::rewrite {

namespace {

// A quarter of what an H200 keeps in flight: beyond, threads that share rows are offered for
// kernels of one axis alone, since products and stencils, which have two, would be offered little
// else.
constexpr std::uint64_t kFewThreads = 1ULL << 16;

// Whether the member asks for the block that the kernel has by now, and did not have at first.
bool has_block_by_now(const KernelAnalysis& kernel, const StepParameters& setting,
                      const KernelAnalysis& at_first) {
  const auto block = setting.find("block");
  return block != setting.end() && is_block(kernel, block->second) &&
         !is_block(at_first, block->second);
}

Result<KernelState> apply_member(const KernelAnalysis& kernel, const MacroMember& member,
                                 const KernelAnalysis& at_first) {
  Error reason = refuse("'" + member.step + "' is no step of the rewriter");
  const StepRewriter* step = find_built_in_step(member.step);
  if (step == nullptr) return reason;
  for (const StepParameters& setting : member.settings) {
    if (member.step == "block_size" && has_block_by_now(kernel, setting, at_first))
      return kernel.state();
    auto state = step->apply(kernel, setting);
    if (state) return state;
    reason = refuse(member.step + ": " + state.error().message);
  }
  if (member.optional) return kernel.state();
  return reason;
}

// What untile makes of the kernel.
Result<std::shared_ptr<const OpenedKernel>> without_tiles(const KernelAnalysis& kernel) {
  auto state = find_built_in_step("untile")->apply(kernel, {});
  if (!state) return refuse("untile: " + state.error().message);
  return std::make_shared<const OpenedKernel>(MacroMember{"untile"}, std::move(*state), kernel);
}

bool has_array_in_registers(const KernelAnalysis& kernel) {
  return any_statement(kernel.state().unit.kernel.body, [](const Stmt& stmt) {
    const auto* declared = as<Declaration>(stmt);
    return declared != nullptr && !declared->variable.extents.empty();
  });
}

}  // namespace

Result<KernelState> apply_members(const KernelAnalysis& kernel,
                                  const std::vector<MacroMember>& members) {
  KernelState state = kernel.state();
  for (const MacroMember& member : members) {
    DeviceLimits limits = kernel.limits();
    if (member.before_dynamic) {
      limits.shared_bytes_per_block =
          std::max(limits.shared_bytes_per_block, limits.shared_bytes_per_block_opt_in);
    }
    auto next = apply_member(KernelAnalysis(state, kernel.problem(), limits), member, kernel);
    if (!next) return next;
    // `next` may be a copy of `state`, which what it was found on refers to.
    state = std::move(*next);
  }
  return state;
}

Result<std::shared_ptr<const OpenedKernel>> untiled(const KernelAnalysis& kernel) {
  if (!kernel.analysis().has_shared()) return std::shared_ptr<const OpenedKernel>();
  return without_tiles(kernel);
}

Result<std::shared_ptr<const OpenedKernel>> opened(const KernelAnalysis& kernel) {
  if (kernel.analysis().has_shared()) return untiled(kernel);
  if (has_array_in_registers(kernel)) {
    if (auto plain = without_tiles(kernel)) return plain;
  }
  std::shared_ptr<const OpenedKernel> result;
  const MacroMember reshape = {"reshape_block", {{{"grid", "follow"}}}};
  if (auto state = apply_member(kernel, reshape, kernel))
    result = std::make_shared<const OpenedKernel>(reshape, std::move(*state), kernel);
  return result;
}

Result<const KernelAnalysis*> on_one_axis(const KernelAnalysis& kernel) {
  const auto launch = kernel.launch();
  if (!launch) return launch.error();
  if ((*launch)->block.y == 1 && (*launch)->block.z == 1) return &kernel;
  for (const Symbols& sizes : kernel.problem().bench) {
    const auto concrete = concretise(**launch, sizes);
    if (!concrete) return concrete.error();
    if (concrete->grid.count() * concrete->block.count() > kFewThreads) {
      return refuse(
          "the block has more than one axis, and the grid enough threads with rows of their own; "
          "linearize goes before it where it pays all the same");
    }
  }
  const StepRewriter* const linearize = find_built_in_step("linearize");
  auto flat = kernel.after(
      linearize->id(), [&](const KernelAnalysis& before) { return linearize->apply(before, {}); });
  if (!flat) return refuse("the block has more than one axis; linearize: " + flat.error().message);
  return flat;
}

Result<bool> begin_with_flat_index(const KernelAnalysis& kernel, const KernelAnalysis& plain,
                                   const MacroMember& needed, std::vector<MacroMember>& members) {
  const StepParameters flat = {{"axis", "x"}, {"dimensions", "1"}};
  if (find_built_in_step("delinearize")->match(kernel, flat)) {
    members.push_back({"delinearize", {flat}});
    return true;
  }
  const Status applies = find_built_in_step(needed.step)->match(plain, needed.settings.front());
  if (!applies) return refuse(needed.step + ": " + applies.error().message);
  return false;
}

bool is_block(const KernelAnalysis& kernel, const std::string& block) {
  const auto launch = kernel.launch();
  if (!launch) return false;
  const Dim3& now = (*launch)->block;
  return now.z == 1 && std::to_string(now.x) + "x" + std::to_string(now.y) == block;
}

}  // namespace regraph::rewrite
