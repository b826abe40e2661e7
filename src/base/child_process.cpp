#include "base/child_process.h"

#include "base/file_descriptor.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

namespace regraph {

namespace {

using Clock = std::chrono::steady_clock;

// How often a waiting parent looks at its cancellation flag.
constexpr int kPollMilliseconds = 20;

// Everything the child needs between vfork and exec, prepared before: there it may only make system
// calls, because it borrows the memory of a process whose other threads run on.
struct Preparation {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const char* working_directory = nullptr;
  int standard[3] = {-1, -1, -1};
  pid_t parent = 0;
  std::array<std::pair<int, rlim_t>, 5> limits{};
  std::size_t limit_count = 0;
  sigset_t signals{};  // the mask the child starts with
};

// Runs in the child. Returns only when something failed, with errno's value.
int become_program(const Preparation& preparation) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != preparation.parent) return ESRCH;
  for (int i = 0; i < 3; ++i) {
    if (::dup2(preparation.standard[i], i) < 0) return errno;
  }
  ::syscall(SYS_close_range, 3U, ~0U, 0U);
  for (std::size_t i = 0; i < preparation.limit_count; ++i) {
    const auto [resource, value] = preparation.limits[i];
    rlimit limit{};
    if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return errno;
    limit.rlim_cur = limit.rlim_max = std::min(value, limit.rlim_max);
    if (::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return errno;
  }
  if (preparation.working_directory != nullptr && ::chdir(preparation.working_directory) != 0) {
    return errno;
  }
  for (int signal = 1; signal < NSIG; ++signal)
    ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &preparation.signals, nullptr);
  ::execve(preparation.program, preparation.arguments, preparation.environment);
  return errno;
}

// vfork: the parent's page tables are not copied, however large it is, and its thread waits until
// the child has called exec, so the child's failure can be handed back in memory.
[[gnu::noinline]] pid_t spawn(const Preparation& preparation, volatile int* failure) {
  const pid_t child = ::vfork();
  if (child == 0) {
    *failure = become_program(preparation);
    ::_exit(127);
  }
  return child;
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings)
    result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// A pair of connected descriptors, both closed on exec: [0] is the parent's, [1] the child's.
// Sockets instead of pipes so that writing to a child that is gone is an error and not SIGPIPE.
Result<std::array<FileDescriptor, 2>> connect_pair() {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail(ErrorCode::resource,
                fmt::format("cannot open a socket pair: {}", std::strerror(errno)));
  }
  ::fcntl(pair[0], F_SETFL, O_NONBLOCK);
  // A child's descriptor must not be 0, 1 or 2: dup2 onto itself would keep it closed-on-exec.
  if (pair[1] < 3) {
    const int moved = ::fcntl(pair[1], F_DUPFD_CLOEXEC, 3);
    ::close(pair[1]);
    pair[1] = moved;
  }
  return std::array<FileDescriptor, 2>{FileDescriptor(pair[0]), FileDescriptor(pair[1])};
}

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
  std::array<std::array<FileDescriptor, 2>, 3> streams;
  for (std::array<FileDescriptor, 2>& stream : streams) {
    Result<std::array<FileDescriptor, 2>> pair = connect_pair();
    if (!pair.ok()) return pair.error();
    stream = std::move(*pair);
  }

  std::vector<std::string> arguments = {request.program.string()};
  arguments.insert(arguments.end(), request.arguments.begin(), request.arguments.end());
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(request.environment);

  Preparation preparation;
  preparation.program = arguments.front().c_str();
  preparation.arguments = argument_pointers.data();
  preparation.environment = environment_pointers.data();
  const std::string directory = request.working_directory.string();
  if (!directory.empty()) preparation.working_directory = directory.c_str();
  for (int i = 0; i < 3; ++i)
    preparation.standard[i] = streams[static_cast<std::size_t>(i)][1].get();
  preparation.parent = ::getpid();
  const auto limit = [&](int resource, std::uint64_t value) {
    if (value != 0) preparation.limits[preparation.limit_count++] = {resource, value};
  };
  limit(RLIMIT_AS, request.limits.address_space_bytes);
  limit(RLIMIT_CPU, request.limits.cpu_seconds);
  limit(RLIMIT_FSIZE, request.limits.file_bytes);
  limit(RLIMIT_NOFILE, request.limits.open_files);
  preparation.limits[preparation.limit_count++] = {RLIMIT_CORE, 0};
  sigemptyset(&preparation.signals);

  // No signal handler of this program may run in the child while it borrows our memory.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  volatile int failure = 0;
  const pid_t child = spawn(preparation, &failure);
  const int spawn_error = errno;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) {
    return fail(ErrorCode::resource,
                fmt::format("cannot start a process: {}", std::strerror(spawn_error)));
  }
  if (failure != 0) {
    const int reason = failure;
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return fail(
        reason == ENOENT || reason == ENOTDIR ? ErrorCode::not_found : ErrorCode::io,
        fmt::format("cannot run '{}': {}", request.program.string(), std::strerror(reason)));
  }
  for (std::array<FileDescriptor, 2>& stream : streams)
    stream[1].reset();
  return Conversation(request, child, std::move(streams[0][0]), std::move(streams[1][0]),
                      std::move(streams[2][0]))
      .run(cancellation);
}

}  // namespace regraph
