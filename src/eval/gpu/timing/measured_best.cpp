#include "eval/gpu/timing/measured_best.h"

namespace regraph::gpu {

bool MeasuredBest::offer(const std::shared_ptr<const PreparedCandidate>& kernel,
                         double predicted_seconds, double measured_seconds) {
  const std::lock_guard lock(mutex_);
  if (predicted_seconds > 0.0 && (scale_measured_ <= 0.0 || measured_seconds < scale_measured_)) {
    scale_predicted_ = predicted_seconds;
    scale_measured_ = measured_seconds;
  }
  if (kernel_ && measured_seconds >= measured_) return false;
  kernel_ = kernel;
  measured_ = measured_seconds;
  return true;
}

void MeasuredBest::withdraw(const std::shared_ptr<const PreparedCandidate>& kernel) {
  const std::lock_guard lock(mutex_);
  if (kernel_ != kernel) return;
  kernel_.reset();
  measured_ = scale_measured_ = scale_predicted_ = 0.0;
}

std::shared_ptr<const PreparedCandidate> MeasuredBest::kernel() const {
  const std::lock_guard lock(mutex_);
  return kernel_;
}

std::optional<double> MeasuredBest::corrected_if_behind(double predicted_seconds,
                                                        double measured_over_predicted,
                                                        double factor) const {
  const std::lock_guard lock(mutex_);
  if (scale_predicted_ <= 0.0) return std::nullopt;
  const double scale =
      measured_over_predicted > 0.0 ? measured_over_predicted : scale_measured_ / scale_predicted_;
  const double corrected = predicted_seconds * scale;
  if (corrected <= factor * scale_measured_) return std::nullopt;
  return corrected;
}

}  // namespace regraph::gpu
