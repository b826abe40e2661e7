#include "base/service_process.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <utility>

namespace regraph {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kServicePollMilliseconds = 20;
constexpr std::size_t kLengthBytes = 4;
// Of standard error, the end.
constexpr std::size_t kKeptErrorBytes = 4096;

bool would_block() {
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

}  // namespace

std::string frame(std::string_view message) {
  std::string framed(kLengthBytes, '\0');
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    framed[i] = static_cast<char>((message.size() >> (8 * i)) & 0xff);
  framed.append(message);
  return framed;
}

struct ServiceProcess::State {
  SpawnedProcess process;
  double grace_seconds = 0.0;
  bool alive = true;
  std::string received;  // of the answer that is coming in
  std::string said;      // last words on standard error
  std::string end;       // how it ended, in words

  // Whether it is over; it stays to be reaped.
  [[nodiscard]] bool ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(process.id), &info, WEXITED | WNOHANG | WNOWAIT) ==
               0 &&
           info.si_pid == process.id;
  }

  void kill() {
    if (!alive) return;
    alive = false;
    if (grace_seconds > 0.0) {
      ::kill(process.id, SIGTERM);
      const Clock::time_point start = Clock::now();
      while (!ended() &&
             std::chrono::duration<double>(Clock::now() - start).count() < grace_seconds)
        ::poll(nullptr, 0, 1);
    }
    ::kill(-process.id, SIGKILL);
    ::kill(process.id, SIGKILL);
    int status = 0;
    while (::waitpid(process.id, &status, 0) < 0 && errno == EINTR) {
    }
    listen();
    end = WIFSIGNALED(status) ? fmt::format("signal {}", WTERMSIG(status))
                              : fmt::format("exit code {}", WEXITSTATUS(status));
  }

  // Error: what happened to a process that says no more.
  Error gone(const std::string& what) {
    // It may be about to end by itself: how it does says more than that we killed it.
    for (int i = 0; i < 10 && alive && !ended(); ++i)
      ::poll(nullptr, 0, kServicePollMilliseconds);
    kill();
    while (!said.empty() && said.back() == '\n')
      said.pop_back();
    return fail(ErrorCode::io,
                fmt::format("{} ({}){}{}", what, end, said.empty() ? "" : ": ", said));
  }

  void listen() {
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t count = ::read(process.error.get(), buffer.data(), buffer.size());
      if (count <= 0) return;
      said.append(buffer.data(), static_cast<std::size_t>(count));
      if (said.size() > kKeptErrorBytes) said.erase(0, said.size() - kKeptErrorBytes);
    }
  }

  // Whether the answer is whole. False also when nothing more will come.
  [[nodiscard]] bool complete() const {
    return received.size() >= kLengthBytes && received.size() - kLengthBytes >= length();
  }
  [[nodiscard]] std::size_t length() const {
    std::size_t value = 0;
    for (std::size_t i = 0; i < kLengthBytes; ++i)
      value |= std::size_t{static_cast<unsigned char>(received[i])} << (8 * i);
    return value;
  }

  // Takes the next message that `heard` does not want; false when there is none yet.
  bool take_message(std::string& message, const Heard& heard) {
    while (complete()) {
      message = received.substr(kLengthBytes, length());
      received.erase(0, kLengthBytes + message.size());
      if (!heard || !heard(message)) return true;
    }
    return false;
  }

  // Returns false at the end of the stream.
  bool receive() {
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t count = ::read(process.output.get(), buffer.data(), buffer.size());
      if (count > 0) {
        received.append(buffer.data(), static_cast<std::size_t>(count));
        if (received.size() > kLargestMessage + kLengthBytes) return true;
      } else {
        return count < 0 && would_block();
      }
    }
  }
};

ServiceProcess::ServiceProcess(std::unique_ptr<State> state) : state_(std::move(state)) {}
ServiceProcess::ServiceProcess(ServiceProcess&&) noexcept = default;
ServiceProcess& ServiceProcess::operator=(ServiceProcess&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
ServiceProcess::~ServiceProcess() {
  if (state_) state_->kill();
}

Result<ServiceProcess> ServiceProcess::start(const SpawnRequest& request, double grace_seconds) {
  Result<SpawnedProcess> spawned = spawn_process(request);
  if (!spawned.ok()) return spawned.error();
  auto state = std::make_unique<State>();
  state->process = std::move(*spawned);
  state->grace_seconds = grace_seconds;
  return ServiceProcess(std::move(state));
}

bool ServiceProcess::alive() const {
  return state_ && state_->alive;
}

void ServiceProcess::kill() {
  if (state_) state_->kill();
}

Status ServiceProcess::finish(double seconds, const Cancellation& cancellation) {
  if (!alive()) return {};
  State& state = *state_;
  state.process.input.reset();
  const Clock::time_point start = Clock::now();
  while (!state.ended()) {
    const bool late = std::chrono::duration<double>(Clock::now() - start).count() >= seconds;
    if (late || cancellation.requested()) {
      state.kill();
      if (!late) return fail(ErrorCode::cancelled, "cancelled");
      return fail(ErrorCode::resource, fmt::format("no end within {:.3g} seconds", seconds));
    }
    // What it still says is not waited for, but must not hold it up.
    state.listen();
    state.received.clear();
    (void)state.receive();
    ::poll(nullptr, 0, 1);
  }
  state.kill();
  return {};
}

Result<std::string> ServiceProcess::ask(std::string_view message, double seconds,
                                        const Cancellation& cancellation, const Heard& heard) {
  if (!alive()) return fail(ErrorCode::io, "the process has ended");
  State& state = *state_;
  const std::string request = frame(message);
  std::string_view rest = request;
  state.received.clear();
  const Clock::time_point start = Clock::now();
  std::string answer;
  while (!state.take_message(answer, heard)) {
    const double left = seconds - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0.0 || cancellation.requested()) {
      state.kill();
      if (left <= 0.0)
        return fail(ErrorCode::resource, fmt::format("no answer within {:.3g} seconds", seconds));
      return fail(ErrorCode::cancelled, "cancelled");
    }
    std::array<pollfd, 3> wanted = {
        pollfd{state.process.output.get(), POLLIN, 0}, pollfd{state.process.error.get(), POLLIN, 0},
        pollfd{rest.empty() ? -1 : state.process.input.get(), POLLOUT, 0}};
    ::poll(wanted.data(), wanted.size(),
           std::clamp(static_cast<int>(std::min(left, 1e3) * 1000.0), 1, kServicePollMilliseconds));
    if (!rest.empty()) {
      const ssize_t sent =
          ::send(state.process.input.get(), rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent > 0) rest.remove_prefix(static_cast<std::size_t>(sent));
      if (sent < 0 && !would_block()) return state.gone("the process ended without an answer");
    }
    state.listen();
    const bool open = state.receive();
    if (state.received.size() >= kLengthBytes && state.length() > kLargestMessage) {
      state.kill();
      return fail(ErrorCode::parse, "the process answers with too long a message");
    }
    if (!open && !state.complete()) return state.gone("the process ended without an answer");
  }
  if (!state.received.empty()) {
    state.kill();
    return fail(ErrorCode::parse, "the process says more than it was asked");
  }
  return answer;
}

}  // namespace regraph
