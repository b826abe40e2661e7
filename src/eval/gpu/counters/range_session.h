// One enabled range profiler, from construction to destruction. Includes CUPTI's headers; for .cpp
// files.
#pragma once

#include "base/result.h"
#include "eval/gpu/counters/counter_plan.h"
#include "eval/gpu/counters/cupti_api.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace regraph::gpu {

// Not thread-safe. At most one a process; the second is refused with busy.
class RangeSession {
 public:
  static Result<std::unique_ptr<RangeSession>> enable(const CuptiApi& api, CUcontext context,
                                                      const CounterPlan& plan);
  ~RangeSession();  // disables the profiler
  RangeSession(const RangeSession&) = delete;
  RangeSession& operator=(const RangeSession&) = delete;

  // A pass: what runs between begin_pass() and end_pass() is counted. end_pass() returns whether
  // all passes have been made, and must be called after every successful begin_pass().
  [[nodiscard]] Status begin_pass();
  [[nodiscard]] Result<bool> end_pass();

  // The decoded counter data image of the range, after the last pass.
  [[nodiscard]] Result<std::vector<std::uint8_t>> decode();

 private:
  explicit RangeSession(const CuptiApi& api) : api_(api) {}
  [[nodiscard]] Status configure(const CounterPlan& plan);

  const CuptiApi& api_;
  CUpti_RangeProfiler_Object* object_ = nullptr;
  std::vector<std::uint8_t> configuration_;  // CUPTI keeps pointers to both images
  std::vector<std::uint8_t> counter_data_;
};

}  // namespace regraph::gpu
