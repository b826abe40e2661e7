// CUPTI's Profiler Host object: knows a chip's metrics, plans passes, turns counter data into
// values. Needs no GPU. Includes CUPTI's headers; for .cpp files.
#pragma once

#include "base/result.h"
#include "eval/gpu/counters/cupti_api.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace regraph::gpu {

// Not thread-safe.
class ProfilerHost {
 public:
  // `chip`: CUPTI's name, "GH100". `availability`: what cuptiProfilerGetCounterAvailability said of
  // the device, may be empty. Error: unsupported for a chip that CUPTI does not know.
  static Result<std::unique_ptr<ProfilerHost>> create(std::shared_ptr<const CuptiApi> api,
                                                      std::string_view chip,
                                                      std::span<const std::uint8_t> availability);
  ~ProfilerHost();
  ProfilerHost(const ProfilerHost&) = delete;
  ProfilerHost& operator=(const ProfilerHost&) = delete;

  // Returns whether the chip has this metric, roll-ups and sub-metrics included.
  [[nodiscard]] bool knows(const std::string& metric) const;

  // Schedules `metrics` and returns the configuration image for the range profiler.
  [[nodiscard]] Result<std::vector<std::uint8_t>> configure(
      std::span<const std::string> metrics) const;

  [[nodiscard]] Result<int> passes(std::span<const std::uint8_t> configuration) const;

  // Values of `metrics`, in their order, for the only range of a decoded counter data image.
  [[nodiscard]] Result<std::vector<double>> evaluate(std::span<const std::uint8_t> counter_data,
                                                     std::span<const std::string> metrics) const;

 private:
  ProfilerHost(std::shared_ptr<const CuptiApi> api, std::string chip,
               std::span<const std::uint8_t> availability)
      : api_(std::move(api)),
        chip_(std::move(chip)),
        availability_(availability.begin(), availability.end()) {}

  std::shared_ptr<const CuptiApi> api_;
  std::string chip_;                        // CUPTI keeps pointers to both for as long as the
  std::vector<std::uint8_t> availability_;  // object lives
  CUpti_Profiler_Host_Object* object_ = nullptr;
};

}  // namespace regraph::gpu
