#include "eval/gpu/protocol/gpu_plan.h"

#include "eval/verify/parameters.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace regraph::gpu {

Result<GpuPlan, Failure> load_on_gpu(GpuProcess& process, const CompiledPlan& compiled,
                                     const LaunchPlan& plan, std::span<const Symbols> sizes,
                                     const Cancellation& stop) {
  // Launches of one kernel share a module.
  std::map<const CompiledKernel*, std::uint32_t> shared_bytes;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    std::uint32_t& most = shared_bytes[compiled.launches[i].get()];
    for (const Symbols& symbols : sizes) {
      const Result<ConcreteLaunch> launch = concretise(plan.launches[i], symbols);
      if (launch.ok())
        most = std::max(most, static_cast<std::uint32_t>(launch->dynamic_shared_bytes));
    }
  }
  GpuPlan loaded;
  std::map<const CompiledKernel*, int> modules;
  for (const auto& kernel : compiled.launches) {
    const auto known = modules.find(kernel.get());
    if (known != modules.end()) {
      loaded.functions.push_back({known->second, 0});
      continue;
    }
    LoadRequest request;
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(kernel->cubin.data());
    request.cubin.assign(bytes, bytes + kernel->cubin.size());
    request.functions = {{kernel->entry, shared_bytes[kernel.get()]}};
    Result<LoadResponse, Failure> response = process.load(request, stop);
    if (!response.ok()) {
      if (!response.error().final) (void)process.free({{}, loaded.modules}, stop);
      return response.error();
    }
    modules.emplace(kernel.get(), response->module);
    loaded.modules.push_back(response->module);
    loaded.functions.push_back({response->module, 0});
  }
  return loaded;
}

Result<std::vector<LaunchMessage>> launches_of(const GpuPlan& loaded,
                                               const verify::LoadedPlan& plan,
                                               const Problem& problem, const Symbols& symbols,
                                               std::span<const std::uint64_t> addresses) {
  std::vector<LaunchMessage> messages;
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const Result<ConcreteLaunch> launch = concretise(plan[i].launch, symbols);
    if (!launch.ok()) return launch.error();
    const Result<std::vector<std::byte>> parameters = verify::pack_parameters(
        problem, plan[i].program, plan[i].launch.arguments, symbols, addresses);
    if (!parameters.ok()) return parameters.error();
    LaunchMessage message;
    message.module = loaded.functions[i].module;
    message.function = loaded.functions[i].index;
    message.grid = {launch->grid.x, launch->grid.y, launch->grid.z};
    message.block = {launch->block.x, launch->block.y, launch->block.z};
    message.shared_bytes = static_cast<std::uint32_t>(launch->dynamic_shared_bytes);
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(parameters->data());
    message.parameters.assign(bytes, bytes + parameters->size());
    messages.push_back(std::move(message));
  }
  return messages;
}

Result<void, Failure> set_symbols(GpuProcess& process, const GpuPlan& loaded,
                                  const Problem& problem, const verify::Buffers& inputs,
                                  const Cancellation& stop) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (!argument.is_symbol) continue;
    const std::vector<std::byte>& content = inputs[i];
    if (const Status status = process.shared().grow(content.size()); !status.ok()) {
      return Failure{0, false, false, status.error().message};
    }
    std::memcpy(process.shared().bytes().data(), content.data(), content.size());
    for (const int module : loaded.modules) {
      Result<void, Failure> done =
          process.set_symbol({module, argument.name, {0, content.size()}}, stop);
      if (!done.ok()) return done.error();
    }
  }
  return {};
}

}  // namespace regraph::gpu
