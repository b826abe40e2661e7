#include "fleet_worker/gpu_health.h"

#include "base/cancellation.h"
#include "eval/gpu/driver/nvml.h"
#include "eval/gpu/protocol/gpu_process.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace regraph::fleet {

std::string GpuHealth::trouble(bool suspected) {
  if (suspected) {
    const Status fit = probe_();
    return fit ? "" : "its GPU cannot be used: " + fit.error().message;
  }
  const std::string slowed = slowed_();
  const std::lock_guard lock(mutex_);
  slow_looks_ = slowed.empty() ? 0 : slow_looks_ + 1;
  return slow_looks_ < kSlowLooks ? "" : "the clocks of its GPU are held down by " + slowed;
}

std::shared_ptr<GpuHealth> health_of_gpu(const std::filesystem::path& program, int device,
                                         const std::string& bus_id) {
  return std::make_shared<GpuHealth>(
      [program, device]() -> Status {
        const auto gpu = gpu::probe_gpu(program, device, Cancellation());
        return gpu ? Status() : Status(gpu.error());
      },
      [bus_id]() -> std::string {
        const auto state = gpu::read_gpu_state(bus_id, gpu::nvml_candidates());
        if (!state) return "";
        const auto slowing = gpu::slowing_clock_events(state->clock_events.value_or(0));
        return fmt::format("{}", fmt::join(gpu::clock_event_words(slowing), ", "));
      });
}

}  // namespace regraph::fleet
