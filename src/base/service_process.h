// A child process that answers messages until it is no longer needed.
#pragma once

#include "base/cancellation.h"
#include "base/result.h"
#include "base/spawn.h"

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace regraph {

// A message is its length in 4 bytes, least significant first, and that many bytes.
[[nodiscard]] std::string frame(std::string_view message);

// One conversation at a time: not thread-safe.
class ServiceProcess {
 public:
  static constexpr std::size_t kLargestMessage = std::size_t{256} << 20;

  // `grace_seconds`: how long a program that cleans up after itself gets from SIGTERM to SIGKILL; 0
  // for those that do not. Errors as spawn_process.
  [[nodiscard]] static Result<ServiceProcess> start(const SpawnRequest& request,
                                                    double grace_seconds = 0.0);
  // Kills it and its process group.
  ~ServiceProcess();
  ServiceProcess(ServiceProcess&&) noexcept;
  ServiceProcess& operator=(ServiceProcess&&) noexcept;

  // Sends a message and waits for the answer to it. After any error the process is dead. Errors:
  // resource (no answer within `seconds`), io (it ended or broke off: says how it ended and what it
  // last wrote to standard error), parse (an answer beyond kLargestMessage), cancelled.
  // `heard` is called with every message that comes before, and says whether it was no answer;
  // empty: the first one is.
  using Heard = std::function<bool(std::string_view message)>;
  [[nodiscard]] Result<std::string> ask(std::string_view message, double seconds,
                                        const Cancellation& cancellation, const Heard& heard = {});

  // Ends the conversation by closing its standard input, and waits until it has ended by itself.
  // The process is gone in any case. Errors: resource (not within `seconds`), cancelled.
  [[nodiscard]] Status finish(double seconds, const Cancellation& cancellation);

  [[nodiscard]] bool alive() const;
  // Idempotent. The process is gone when it returns.
  void kill();

 private:
  struct State;
  explicit ServiceProcess(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace regraph
