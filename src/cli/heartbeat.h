// Says what a program is at when it would otherwise be silent for long.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace regraph::cli {

// While it lives: a line on standard error whenever nothing was said (cli::say) for `silence`, with
// the phase and how long that has taken. Thread-safe.
class Heartbeat {
 public:
  static constexpr std::chrono::seconds kSilence{10};

  // `on`: whether anything is said at all.
  explicit Heartbeat(bool on, std::chrono::milliseconds silence = kSilence);
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;
  ~Heartbeat();

  // What is done from now on, e.g. "checking the original on its test sizes".
  void phase(const std::string& what);
  // How far it is, e.g. "12 of 60 evaluated"; empty: not known. Of the phase before it is
  // forgotten.
  void progress(const std::string& how_far);
  // Says nothing from now on.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  void beat();

  const std::chrono::milliseconds silence_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::string phase_;
  std::string progress_;
  Clock::time_point phase_began_ = Clock::now();
  std::thread thread_;
};

}  // namespace regraph::cli
