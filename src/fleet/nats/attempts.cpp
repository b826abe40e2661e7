#include "fleet/nats/attempts.h"

#include <algorithm>
#include <random>
#include <thread>

namespace regraph::fleet {
namespace {

constexpr double kFirstPause = 0.02;
constexpr double kLongestPause = 2.0;
constexpr std::chrono::milliseconds kPauseStep(40);
// The server may be busy with what is wrong.
constexpr std::chrono::milliseconds kBetweenRepairs(500);
// A single failure is nothing to tell of.
constexpr int kFailuresToTell = 2;

}  // namespace

Attempts::Clock::duration Attempts::span(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(
      std::chrono::duration<double>(std::clamp(seconds, 0.0, kNoLimit)));
}

double Attempts::left(Clock::time_point end) {
  return std::max(0.0, std::chrono::duration<double>(end - Clock::now()).count());
}

bool Attempts::recover(const std::shared_ptr<NatsSession>& session, const Error& error,
                       int failures, double most, const Cancellation& cancellation) {
  // A lost session is the connection's business.
  if (session->alive()) {
    if (failures + 1 >= kFailuresToTell)
      reporter_.tell("trouble",
                     error.message + "; trying again until it does (its log may say why)");
    // One is enough, and nobody waits for it: a server that hangs takes its time.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock() && Clock::now() - put_right_ >= kBetweenRepairs) {
      // Somebody may have emptied the server's store. Where this fails, too, it is tried again.
      (void)setup_.ensure_streams(*session, cancellation);
      put_right_ = Clock::now();
    }
  }
  thread_local std::minstd_rand random(std::random_device{}());
  const double longest = std::min(kLongestPause, kFirstPause * (1 << std::min(failures, 10)));
  const double pause = std::uniform_real_distribution<double>(longest / 2, longest)(random);
  const Clock::time_point end = Clock::now() + span(std::min(pause, most));
  while (!cancellation.requested()) {
    const Clock::time_point now = Clock::now();
    if (now >= end) return true;
    std::this_thread::sleep_for(std::min<Clock::duration>(end - now, kPauseStep));
  }
  return false;
}

}  // namespace regraph::fleet
