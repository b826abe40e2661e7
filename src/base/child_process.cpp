#include "base/child_process.h"

#include "base/file_descriptor.h"
#include "base/spawn.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace regraph {

namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting parent looks at its cancellation flag.
constexpr int kPollMilliseconds = 20;

// One running child: feeds it, drains it, and sees to its end.
class Conversation {
 public:
  Conversation(const ChildRequest& request, pid_t child, FileDescriptor input,
               FileDescriptor output, FileDescriptor error)
      : request_(request),
        child_(child),
        process_(static_cast<int>(::syscall(SYS_pidfd_open, child, 0))),
        input_(std::move(input)),
        output_(std::move(output)),
        error_(std::move(error)),
        rest_(request.input),
        start_(Clock::now()) {}

  ChildOutcome run(const Cancellation& cancellation) {
    std::optional<ChildEnd> killed;
    while (!killed && !ended()) {
      if (cancellation.requested()) {
        killed = ChildEnd::cancelled;
      } else if (elapsed() >= request_.wall_seconds) {
        killed = ChildEnd::timed_out;
      } else {
        wait_for_something();
        feed();
        if (!drain(output_, outcome_.output, request_.output_limit_bytes, true)) {
          killed = ChildEnd::output_limit;
        }
        drain(error_, outcome_.error, request_.error_limit_bytes, false);
      }
    }
    // The zombie keeps its id, and with it its group's, until it is reaped below.
    ::kill(-child_, SIGKILL);
    ::kill(child_, SIGKILL);
    reap();
    if (!drain(output_, outcome_.output, request_.output_limit_bytes, true) && !killed) {
      killed = ChildEnd::output_limit;
    }
    drain(error_, outcome_.error, request_.error_limit_bytes, false);
    if (killed) outcome_.end = *killed;
    outcome_.wall_seconds = elapsed();
    return std::move(outcome_);
  }

 private:
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  bool ended() const {
    siginfo_t info{};
    if (::waitid(P_PID, static_cast<id_t>(child_), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return errno != EINTR;
    }
    return info.si_pid == child_;
  }

  void wait_for_something() {
    std::array<pollfd, 4> wanted{};
    nfds_t count = 0;
    if (process_.valid()) wanted[count++] = {process_.get(), POLLIN, 0};
    if (input_.valid()) wanted[count++] = {input_.get(), POLLOUT, 0};
    if (output_.valid()) wanted[count++] = {output_.get(), POLLIN, 0};
    if (error_.valid()) wanted[count++] = {error_.get(), POLLIN, 0};
    const double left = (request_.wall_seconds - elapsed()) * 1000.0;
    // Without a process descriptor (Linux before 5.3) the end is seen by looking more often.
    const int interval = process_.valid() ? kPollMilliseconds : 2;
    ::poll(wanted.data(), count, std::clamp(static_cast<int>(std::min(left, 1e6)), 1, interval));
  }

  void feed() {
    while (input_.valid()) {
      if (rest_.empty()) {
        input_.reset();
        return;
      }
      const ssize_t sent = ::send(input_.get(), rest_.data(), rest_.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        rest_.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return;
      } else if (errno != EINTR) {
        input_.reset();  // The child does not listen any more; its own end says why.
      }
    }
  }

  // Reads what is there. Returns false once more than `limit` bytes came.
  static bool drain(FileDescriptor& from, std::string& into, std::size_t limit,
                    bool stop_at_limit) {
    std::array<char, 65536> buffer;
    while (from.valid()) {
      const ssize_t count = ::read(from.get(), buffer.data(), buffer.size());
      if (count > 0) {
        const auto got = static_cast<std::size_t>(count);
        const std::size_t kept = std::min(got, limit - into.size());
        into.append(buffer.data(), kept);
        if (kept < got && stop_at_limit) return false;
      } else if (count == 0) {
        from.reset();
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        return true;
      } else if (errno != EINTR) {
        from.reset();
      }
    }
    return true;
  }

  void reap() {
    int status = 0;
    rusage usage{};
    pid_t reaped = 0;
    do {
      reaped = ::wait4(child_, &status, 0, &usage);
    } while (reaped < 0 && errno == EINTR);
    if (WIFSIGNALED(status)) {
      outcome_.end = ChildEnd::signalled;
      outcome_.signal = WTERMSIG(status);
    } else {
      outcome_.exit_code = WEXITSTATUS(status);
    }
    const auto seconds = [](const timeval& time) {
      return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    outcome_.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    outcome_.peak_memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
  }

  const ChildRequest& request_;
  pid_t child_;
  FileDescriptor process_;
  FileDescriptor input_;
  FileDescriptor output_;
  FileDescriptor error_;
  std::string_view rest_;
  Clock::time_point start_;
  ChildOutcome outcome_;
};

}  // namespace

Result<ChildOutcome> run_child(const ChildRequest& request, const Cancellation& cancellation) {
  Result<SpawnedProcess> spawned = spawn_process({request.program,
                                                  request.arguments,
                                                  request.environment,
                                                  request.working_directory,
                                                  request.limits,
                                                  {}});
  if (!spawned.ok()) return spawned.error();
  return Conversation(request, spawned->id, std::move(spawned->input), std::move(spawned->output),
                      std::move(spawned->error))
      .run(cancellation);
}

}  // namespace regraph
