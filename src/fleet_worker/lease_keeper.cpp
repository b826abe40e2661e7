#include "fleet_worker/lease_keeper.h"

namespace regraph::fleet {
namespace {

constexpr std::chrono::duration<double> kLease(kLeaseSeconds);

}  // namespace

void LeaseKeeper::keep() {
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, kLease / 3.0, [this] { return over_; })) {
    stood_still_ = stood_still_ || Clock::now() - extended_ > kLease;
    lease_.extend();
    extended_ = Clock::now();
  }
}

bool LeaseKeeper::stood_still() const {
  const std::lock_guard lock(mutex_);
  return stood_still_ || Clock::now() - extended_ > kLease;
}

}  // namespace regraph::fleet
