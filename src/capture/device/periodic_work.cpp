#include "capture/device/periodic_work.h"

#include <algorithm>
#include <utility>

namespace regraph::capture {

bool PeriodicWork::expects(const Hash128& key) const {
  return period_ != 0 && last_[last_.size() - period_ + position_ % period_].key == key;
}

bool PeriodicWork::skip(const Hash128& key) {
  if (!expects(key)) return false;
  ++position_;
  return true;
}

std::vector<const PeriodicWork::Work*> PeriodicWork::behind() const {
  std::vector<const Work*> works;
  if (period_ == 0) return works;
  const std::size_t first = last_.size() - period_;
  // Memory is the same after whole rounds.
  for (std::uint64_t i = 0; i < (position_ - executed_) % period_; ++i)
    works.push_back(&last_[first + (executed_ + i) % period_]);
  return works;
}

bool PeriodicWork::can_hash(double times) const {
  return hashed_seconds_ + times * hash_seconds_ <= kHashingShare * worked_seconds_;
}

bool PeriodicWork::done(Work work, double seconds, double hash_seconds) {
  if (period_ != 0) forget();  // it was none of the period's
  worked_seconds_ += seconds;
  hash_seconds_ = hash_seconds;
  for (std::size_t p = 1; p <= kLongestPeriod; ++p) {
    const bool again = p <= last_.size() && last_[last_.size() - p].key == work.key;
    repeated_[p - 1] = again ? repeated_[p - 1] + 1 : 0;
  }
  kept_bytes_ += work.request.size();
  last_.push_back(std::move(work));
  if (last_.size() > kLongestPeriod) {
    kept_bytes_ -= last_.front().request.size();
    last_.pop_front();
  }
  if (kept_bytes_ > kMostKeptBytes) {
    forget();
    return false;
  }

  ++pieces_;
  while (!seen_.empty() && seen_.front().after + kLongestPeriod < pieces_)
    seen_.pop_front();
  // Once it is hashed for a period, it is again one later, while the work goes on like that.
  if (next_ != 0 && repeated_[expected_ - 1] > 0) return pieces_ == next_;
  next_ = 0;
  for (std::size_t p = 1; p <= kLongestPeriod; ++p) {
    if (repeated_[p - 1] < p) continue;
    expected_ = p;
    return can_hash(2.0);
  }
  return false;
}

void PeriodicWork::remember(const Hash128& memory) {
  hashed_seconds_ += hash_seconds_;
  const auto same = std::ranges::find(seen_, memory, &Memory::hash);
  if (same != seen_.end()) {
    period_ = pieces_ - same->after;
    position_ = executed_ = 0;
    return;
  }
  // The first of two is paid for with the second.
  const bool again = next_ == 0 || can_hash(1.0);
  next_ = again ? pieces_ + expected_ : 0;
  seen_.push_back({pieces_, memory});
}

void PeriodicWork::forget() {
  last_.clear();
  kept_bytes_ = 0;
  repeated_.fill(0);
  seen_.clear();
  next_ = 0;
  period_ = 0;
  position_ = executed_ = 0;
}

}  // namespace regraph::capture
