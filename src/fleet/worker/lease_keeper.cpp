#include "fleet/worker/lease_keeper.h"

#include <chrono>

namespace regraph::fleet {

void LeaseKeeper::keep() {
  const std::chrono::duration<double> period(kLeaseSeconds / 3.0);
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, period, [this] { return over_; }))
    lease_.extend();
}

}  // namespace regraph::fleet
