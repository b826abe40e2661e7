#include "ptx/execute/block_runner.h"
#include "ptx/execute/watched_handlers.h"

#include <algorithm>
#include <cstring>

namespace regraph::ptx {
Result<std::unique_ptr<LaunchMemory>> make_launch_memory(const Program::Code& code,
                                                         const LaunchArguments& arguments,
                                                         const DeviceMemory& memory,
                                                         ModuleMemory* variables) {
  auto launch = std::make_unique<LaunchMemory>();
  launch->names.reserve(code.module->variables.size());
  for (const Variable& variable : code.module->variables)
    launch->names.emplace_back(source_name(variable.name));
  launch->parameters = arguments.parameters;
  if (variables == nullptr) {
    Result<ModuleMemory> own = ModuleMemory::create(code);
    if (!own.ok()) return own.error();
    launch->own_variables.emplace(*std::move(own));
    variables = &*launch->own_variables;
  } else if (!variables->fits(code)) {
    return fail(ErrorCode::invalid_argument,
                "the variables given to the launch are not those of its module");
  }
  for (const ModuleMemory::Variable& variable : variables->variables()) {
    auto& regions = variable.is_constant ? launch->constant_regions : launch->global_regions;
    regions.push_back({variable.address, variable.address + variable.bytes, variable.host.get(),
                       !variable.is_constant, variable.name.c_str(), 0});
  }
  for (const DeviceMemory::Region& region : memory.regions()) {
    launch->global_regions.push_back({region.begin, region.end, region.host, region.writable,
                                      region.name.c_str(), region.slack, region.races_allowed});
  }
  std::sort(launch->global_regions.begin(), launch->global_regions.end(),
            [](const MemoryRegion& a, const MemoryRegion& b) { return a.begin < b.begin; });
  return launch;
}

void BlockRunner::add_to(Profile& profile) const {
  const ControlFlow& flow = code_.control_flow;
  profile.instructions.resize(code_.instructions.size());
  for (std::size_t i = 0; i < code_.instructions.size(); ++i) {
    const InstructionInfo& info = code_.instructions[i];
    InstructionProfile& to = profile.instructions[i];
    to.instruction_class = info.instruction_class;
    to.multiply_adds = info.multiply_adds;
    to.matrix_rate = info.matrix_rate;
    to.of_warpgroup = info.of_warpgroup;
    to.ptx_line = info.line;
    to.source_line = info.source_line;
    to.basic_block = static_cast<int>(info.block);
    to.loop_depth = flow.blocks[info.block].loop_depth;
    to.reads_only_cache = info.reads_only_cache;
    to.bypasses_l1 = info.bypasses_l1;
    to.mergeable_with_previous = info.mergeable_with_previous;
    to.atomic_floating = info.atomic.floating;
    to.atomic_halves = info.atomic.halves;
    to.atomic_returns = info.atomic.returns;
    to.atomic_increments = info.atomic.increments;
    const bool guarded = info.guard_counter >= 0;
    const auto guard = static_cast<std::size_t>(info.guard_counter);
    const std::uint64_t warps = guarded ? guard_warps_[guard] : block_warps_[info.block];
    const std::uint64_t threads = guarded ? guard_threads_[guard] : block_threads_[info.block];
    to.condition_was_false |= (conditions_[i] & kConditionFalse) != 0;
    to.condition_was_true |= (conditions_[i] & kConditionTrue) != 0;
    to.result_was_false |= (conditions_[i] & kResultFalse) != 0;
    to.result_was_true |= (conditions_[i] & kResultTrue) != 0;
    to.warp_executions += warps;
    to.thread_executions += threads;
    profile.thread_instructions += threads;
  }
  for (std::size_t i = 0; i < code_.sites.size(); ++i) {
    if (!code_.sites[i].counted) continue;
    const AccessSite& site = sites_[i];
    InstructionProfile& to = profile.instructions[code_.sites[i].instruction];
    to.bulk_bytes += site.bulk_bytes;
    to.access_bytes = code_.instructions[code_.sites[i].instruction].access_bytes;
    while (to.address_alignment > 1 &&
           (site.address_bits & static_cast<std::uint64_t>(to.address_alignment - 1)) != 0) {
      to.address_alignment /= 2;
    }
    RequestTotals totals = site.totals;
    for (const AccessPlan& plan : site.plans)
      add_requests(totals, plan.cost, plan.hits);
    to.requests += totals.requests;
    // Sites of shared atomics count lanes in the place of sectors and lines (access.cpp).
    const bool lanes = to.instruction_class == InstructionClass::atomic_shared;
    (lanes ? to.bank_lanes : to.sectors) += totals.sectors;
    (lanes ? to.word_lanes : to.lines) += totals.lines;
    to.wavefronts += totals.wavefronts;
    to.ideal_sectors += totals.ideal_sectors;
    to.ideal_wavefronts += totals.ideal_wavefronts;
    to.uniform_requests += totals.uniform;
  }
  profile.blocks += blocks_run_;
  profile.warps += blocks_run_ * warps_.size();
}

}  // namespace regraph::ptx
