// The fastest kernel that was measured so far, as all GPUs of a search know it.
#pragma once

#include "eval/gpu/timing/timing_session.h"

#include <memory>
#include <mutex>
#include <optional>

namespace regraph::gpu {

// Thread-safe.
class MeasuredBest {
 public:
  // Takes a kernel in that was measured; whether it is the new best. `predicted_seconds`: the
  // model's time, 0 when it had none.
  bool offer(const std::shared_ptr<const TimedKernel>& kernel, double predicted_seconds,
             double measured_seconds);

  // The best is no longer it, should it be: it turned out not to count.
  void withdraw(const std::shared_ptr<const TimedKernel>& kernel);

  // Null before anything was measured.
  [[nodiscard]] std::shared_ptr<const TimedKernel> kernel() const;

  // What a predicted time is multiplied by to be comparable with measured ones, for a candidate
  // that the model puts more than `factor` behind the best; nothing for all others.
  [[nodiscard]] std::optional<double> scale_if_behind(double predicted_seconds,
                                                      double factor) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const TimedKernel> kernel_;
  double measured_ = 0.0;
  // Of the fastest kernel that the model has a time for; 0 before there is one.
  double scale_predicted_ = 0.0;
  double scale_measured_ = 0.0;
};

}  // namespace regraph::gpu
