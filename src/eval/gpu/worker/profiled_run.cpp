#include "eval/gpu/worker/profiled_run.h"

#include "eval/gpu/counters/cupti_library.h"

#include <filesystem>
#include <optional>
#include <vector>

namespace regraph::gpu::worker {
namespace {

// Counters that cannot be read say nothing about the kernel.
[[noreturn]] void refuse(const Error& error) {
  throw Failure{0, false, false, "hardware counters: " + error.message};
}

}  // namespace

CounterCollector& ProfiledRun::collector(const ProfileRequest& request) {
  std::unique_ptr<CounterCollector>& known = collectors_[request.tier];
  if (known) return *known;
  if (!api_) {
    const std::vector<std::filesystem::path> files(request.cupti.begin(), request.cupti.end());
    auto api = load_cupti(files);
    if (!api.ok()) refuse(api.error());
    api_ = *api;
  }
  const auto chip = device_chip_name(*api_, device_.ordinal());
  if (!chip.ok()) refuse(chip.error());
  const auto availability = counter_availability(*api_, device_.context());
  if (!availability.ok()) refuse(availability.error());
  auto plan = plan_counters(api_, *chip, tier_metrics(static_cast<CounterTier>(request.tier)),
                            *availability);
  if (!plan.ok()) refuse(plan.error());
  auto made = CounterCollector::create(api_, device_.handle(), device_.context(), std::move(*plan));
  if (!made.ok()) refuse(made.error());
  known = std::move(*made);
  return *known;
}

ProfileResponse ProfiledRun::run(const ProfileRequest& request, const FindFunction& find) {
  if (request.tier < 0 || request.tier > static_cast<int>(CounterTier::full)) {
    throw Failure{0, false, false, "no such tier of counters"};
  }
  CounterCollector& counters = collector(request);
  const Driver& driver = device_.driver();
  CUevent done = nullptr;
  device_.check(driver.cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
  // CUPTI is C underneath: what goes wrong in between is carried around it.
  std::optional<Failure> met;
  const auto guarded = [&](const auto& work) -> Status {
    try {
      work();
      device_.check(driver.cuEventRecord(done, device_.stream()));
      device_.finish(done, request.timeout_seconds);
    } catch (const Failure& failure) {
      met = failure;
      return fail(ErrorCode::io, failure.message);
    }
    return {};
  };
  const auto replay = [&] {
    return guarded([&] {
      for (const LaunchMessage& launch : request.plan.launches)
        device_.launch(find(launch), launch);
    });
  };
  const auto prepare = [&] {
    return guarded([&] {
      for (const CopyMessage& copy : request.plan.restores) {
        const DeviceBuffers::Buffer& target = buffers_.at(copy.target);
        device_.check(driver.cuMemcpyDtoDAsync(target.address, buffers_.at(copy.source).address,
                                               target.bytes, device_.stream()));
      }
      for (const int name : request.plan.poisons) {
        const DeviceBuffers::Buffer& buffer = buffers_.at(name);
        device_.poison(buffer.address, buffer.bytes, request.poison_seed);
      }
      device_.sweep_cache();
    });
  };
  const Result<CounterValues> values = counters.collect(replay, prepare);
  (void)driver.cuEventDestroy(done);
  if (met) throw *met;
  if (!values.ok()) refuse(values.error());
  return {std::map<std::string, double>(values->begin(), values->end()), counters.plan().passes};
}

}  // namespace regraph::gpu::worker
