#include "fleet/spot_check.h"

#include "base/random.h"

#include <random>

namespace regraph::fleet {

SpotCheck::SpotCheck(int share) : share_(share), secret_(std::random_device{}()) {}

bool SpotCheck::chooses(const Hash128& job) const {
  if (share_ <= 0) return false;
  if (distrusts_.load()) return true;
  return random_bits(job.low, job.high, secret_) % static_cast<std::uint64_t>(share_) == 0;
}

void SpotCheck::distrust() {
  differing_.fetch_add(1);
  distrusts_.store(true);
}

FleetCounts SpotCheck::counts() const {
  return {remote_.load(), local_.load(), checked_.load(), differing_.load()};
}

}  // namespace regraph::fleet
