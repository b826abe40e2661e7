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
  bool offer(const std::shared_ptr<const PreparedCandidate>& kernel, double predicted_seconds,
             double measured_seconds);

  // The best is no longer it, should it be: it turned out not to count.
  void withdraw(const std::shared_ptr<const PreparedCandidate>& kernel);

  // Null before anything was measured.
  [[nodiscard]] std::shared_ptr<const PreparedCandidate> kernel() const;

  // A predicted time made comparable with measured ones, when it is more than `factor` behind the
  // best; nothing for all others, and before anything was measured. `measured_over_predicted` is
  // that of the candidate's nearest relative, 0 where none is known: then the best's counts.
  [[nodiscard]] std::optional<double> corrected_if_behind(double predicted_seconds,
                                                          double measured_over_predicted,
                                                          double factor) const;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const PreparedCandidate> kernel_;
  double measured_ = 0.0;
  // Of the fastest kernel that the model has a time for; 0 before there is one.
  double scale_predicted_ = 0.0;
  double scale_measured_ = 0.0;
};

}  // namespace regraph::gpu
