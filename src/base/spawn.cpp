#include "base/spawn.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <utility>

namespace regraph {

namespace {

// Where descriptors that are handed on begin in the child.
constexpr int kFirstDescriptor = 3;

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
  sigset_t signals{};                // the mask the child starts with
  const int* descriptors = nullptr;  // all beyond those that they become
  int descriptor_count = 0;
};

// Runs in the child. Returns only when something failed, with errno's value.
int become_program(const Preparation& preparation) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != preparation.parent) return ESRCH;
  for (int i = 0; i < 3; ++i) {
    if (::dup2(preparation.standard[i], i) < 0) return errno;
  }
  for (int i = 0; i < preparation.descriptor_count; ++i) {
    if (::dup2(preparation.descriptors[i], kFirstDescriptor + i) < 0) return errno;
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(kFirstDescriptor + preparation.descriptor_count),
            ~0U, 0U);
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
Result<std::array<FileDescriptor, 2>> connect_pair(int lowest) {
  int pair[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
    return fail(ErrorCode::resource,
                fmt::format("cannot open a socket pair: {}", std::strerror(errno)));
  }
  ::fcntl(pair[0], F_SETFL, O_NONBLOCK);
  // The child's must not be among the numbers it gives out: dup2 onto itself would keep it
  // closed-on-exec, and onto another lose that.
  if (pair[1] < lowest) {
    const int moved = ::fcntl(pair[1], F_DUPFD_CLOEXEC, lowest);
    ::close(pair[1]);
    pair[1] = moved;
  }
  return std::array<FileDescriptor, 2>{FileDescriptor(pair[0]), FileDescriptor(pair[1])};
}

}  // namespace

Result<SpawnedProcess> spawn_process(const SpawnRequest& request) {
  const int lowest = kFirstDescriptor + static_cast<int>(request.descriptors.size());
  std::array<std::array<FileDescriptor, 2>, 3> streams;
  for (std::array<FileDescriptor, 2>& stream : streams) {
    Result<std::array<FileDescriptor, 2>> pair = connect_pair(lowest);
    if (!pair.ok()) return pair.error();
    stream = std::move(*pair);
  }
  std::vector<FileDescriptor> copies;
  std::vector<int> descriptors;
  for (const int descriptor : request.descriptors) {
    copies.emplace_back(::fcntl(descriptor, F_DUPFD_CLOEXEC, lowest));
    if (!copies.back().valid()) {
      return fail(ErrorCode::resource,
                  fmt::format("cannot hand on a descriptor: {}", std::strerror(errno)));
    }
    descriptors.push_back(copies.back().get());
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
  preparation.descriptors = descriptors.data();
  preparation.descriptor_count = static_cast<int>(descriptors.size());
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
  return SpawnedProcess{child, std::move(streams[0][0]), std::move(streams[1][0]),
                        std::move(streams[2][0])};
}

}  // namespace regraph
