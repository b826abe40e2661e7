#include "eval/model/gathered_launch.h"

#include "eval/verify/fault_verdict.h"

#include <cmath>
#include <string>
#include <utility>

namespace regraph {
namespace {

// What went wrong in a sampled block, with where in the source.
Rejection failed_at(const Symbols& symbols, const ptx::Fault& fault) {
  std::string sizes;
  for (const auto& [name, value] : symbols) {
    sizes += (sizes.empty() ? "" : ", ") + name + ": " + std::to_string(value);
  }
  std::string text = fault.message.empty() ? std::string(ptx::name(fault.kind)) : fault.message;
  if (fault.source_line > 0) text += " (line " + std::to_string(fault.source_line) + ")";
  return Rejection{verify::verdict_of(fault.kind),
                   "at the benchmark size {" + sizes + "}: " + text};
}

}  // namespace

std::vector<KernelBinary> read_binaries(const CompiledPlan& compiled, WorkCounting counting) {
  std::vector<KernelBinary> binaries;
  for (const auto& kernel : compiled.launches) {
    KernelBinary binary{kernel, std::nullopt};
    if (counting == WorkCounting::machine_code) {
      auto code = sass::read_machine_code(kernel->cubin, kernel->entry);
      if (code.ok()) binary.code = *std::move(code);
    }
    binaries.push_back(std::move(binary));
  }
  return binaries;
}

ModelInput GatheredLaunch::input() const {
  return {*program,
          sample.profile,
          sample.traffic,
          binary->kernel->resources,
          launch,
          occupancy,
          flops,
          bytes,
          binary->code ? &*binary->code : nullptr,
          sample.spread_error};
}

Result<GatheredLaunch, Rejection> gather_launch(const DeviceSpec& device, const Problem& problem,
                                                const verify::LoadedLaunch& loaded,
                                                const KernelBinary& binary, const Symbols& symbols,
                                                const Cancellation& cancellation,
                                                ThreadBudget* threads) {
  auto launch = concretise(loaded.launch, symbols);
  if (!launch) return Rejection{Verdict::launch_error, launch.error().message};
  const ResourceUsage& resources = binary.kernel->resources;
  const std::int64_t shared =
      resources.static_shared_bytes + static_cast<std::int64_t>(launch->dynamic_shared_bytes);
  auto occupancy = occupancy_of(device, static_cast<int>(launch->block.count()),
                                resources.registers_per_thread, shared);
  if (!occupancy) return Rejection{Verdict::launch_error, occupancy.error().message};
  auto sample = sample_launch(problem, loaded.program, *launch, symbols, device, *occupancy, shared,
                              cancellation, threads);
  if (!sample) return Rejection{verify::verdict_of(sample.error().code), sample.error().message};
  if (sample->fault.kind != ptx::FaultKind::none) return failed_at(symbols, sample->fault);
  return GatheredLaunch{&loaded.program, std::move(*sample), &binary,     std::move(*launch),
                        *occupancy,      std::nullopt,       std::nullopt};
}

Result<GatheredPlan, Rejection> GatheredPlan::gather(
    const DeviceSpec& device, const Problem& problem, const CompiledPlan& compiled,
    const LaunchPlan& plan, const Cancellation& cancellation, WorkCounting counting) {
  if (problem.bench.empty())
    return Rejection{Verdict::unsupported, "the problem has no bench sizes"};
  auto loaded = verify::load_plan(compiled, plan);
  if (!loaded) return Rejection{verify::verdict_of(loaded.error().code), loaded.error().message};
  GatheredPlan result;
  result.loaded_ = std::make_unique<verify::LoadedPlan>(std::move(*loaded));
  result.binaries_ = read_binaries(compiled, counting);
  for (const Symbols& symbols : problem.bench) {
    std::vector<CountedLaunch>& launches = result.sizes_.emplace_back();
    for (std::size_t i = 0; i < result.loaded_->size(); ++i) {
      auto gathered = gather_launch(device, problem, (*result.loaded_)[i], result.binaries_[i],
                                    symbols, cancellation);
      if (!gathered) return std::move(gathered).error();
      CountedLaunch launch{std::move(*gathered), {}};
      launch.work = count_work(launch.gathered.input());
      launches.push_back(std::move(launch));
    }
  }
  return result;
}

double GatheredPlan::seconds(const DeviceSpec& device) const {
  double log_sum = 0.0;
  for (const std::vector<CountedLaunch>& launches : sizes_) {
    double sum = 0.0;
    for (const CountedLaunch& launch : launches)
      sum += predict_seconds(launch.gathered.input(), launch.work, device);
    log_sum += std::log(sum);
  }
  return std::exp(log_sum / static_cast<double>(sizes_.size()));
}

}  // namespace regraph
