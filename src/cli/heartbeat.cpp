#include "cli/heartbeat.h"

#include "cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace regraph::cli {

Heartbeat::Heartbeat(bool on, std::chrono::milliseconds silence) : silence_(silence) {
  if (on) thread_ = std::thread([this] { beat(); });
}

Heartbeat::~Heartbeat() {
  stop();
}

void Heartbeat::phase(const std::string& what) {
  const std::lock_guard lock(mutex_);
  phase_ = what;
  progress_.clear();
  phase_began_ = Clock::now();
}

void Heartbeat::progress(const std::string& how_far) {
  const std::lock_guard lock(mutex_);
  progress_ = how_far;
}

void Heartbeat::stop() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::beat() {
  std::unique_lock lock(mutex_);
  while (!over_) {
    const auto silent = Clock::now() - std::max(last_said(), phase_began_);
    if (silent < silence_) {
      wake_.wait_for(lock, silence_ - silent);
      continue;
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - phase_began_).count();
    const std::string how_far = progress_.empty() ? "" : ", " + progress_;
    say(fmt::format("still {}{} ({:.0f} s)\n", phase_.empty() ? "working" : phase_, how_far,
                    seconds));
  }
}

}  // namespace regraph::cli
