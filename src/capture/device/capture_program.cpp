#include "capture/device/capture_program.h"

#include "base/file_descriptor.h"
#include "base/files.h"
#include "capture/runtime/socket_bytes.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <mutex>
#include <poll.h>
#include <set>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char** environ;

namespace regraph::capture {
namespace {

constexpr int kPollMilliseconds = 20;
constexpr int kBacklog = 64;
constexpr std::uintmax_t kMostOutputBytes = std::uintmax_t{64} << 20;

Error system_error(const char* what) {
  return fail(ErrorCode::io, fmt::format("{}: {}", what, std::strerror(errno)));
}

bool send_answer(int socket, const DeviceAnswer& answer) {
  AnswerHead head{answer.status, 0, answer.payload.size()};
  iovec place{&head, sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &place;
  message.msg_iovlen = 1;
  if (answer.descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &answer.descriptor, sizeof(int));
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof head) &&
         send_all(socket, answer.payload.data(), answer.payload.size());
}

// Takes connections and answers them, a thread each, one request at a time.
class Server {
 public:
  Server(ProgramListener& device, FileDescriptor listening)
      : device_(device), listening_(std::move(listening)) {
    accepting_ = std::thread([this] { accept_all(); });
  }
  ~Server() {
    stop_.request();
    accepting_.join();
    for (const int socket : sockets_)
      ::shutdown(socket, SHUT_RDWR);
    for (std::thread& thread : threads_)
      thread.join();
    for (const int socket : sockets_)
      ::close(socket);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Ends a kernel that runs, and all that would follow.
  void stop() { stop_.request(); }
  [[nodiscard]] bool asked() const { return asked_.load(); }

 private:
  void accept_all() {
    while (!stop_.requested()) {
      pollfd waiting{listening_.get(), POLLIN, 0};
      if (::poll(&waiting, 1, kPollMilliseconds) <= 0) continue;
      const int socket = ::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      sockets_.push_back(socket);
      threads_.emplace_back([this, socket] { serve(socket); });
    }
  }

  void serve(int socket) {
    count_client(1);
    answer_all(socket);
    count_client(-1);
  }

  void count_client(int more) {
    const std::lock_guard lock(device_mutex_);
    clients_ += more;
    device_.set_clients(clients_);
  }

  void answer_all(int socket) {
    RequestHead head;
    std::string request;
    std::set<std::uint64_t> allocated;
    while (receive_all(socket, &head, sizeof head) && head.bytes <= kLargestMessage) {
      request.resize(head.bytes);
      if (!receive_all(socket, request.data(), request.size())) break;
      asked_.store(true);
      DeviceAnswer answer;
      bool sent = false;
      {
        const std::lock_guard lock(device_mutex_);
        answer = device_.answer(head.kind, request, stop_);
        sent = send_answer(socket, answer);
      }
      if (answer.status == 0) keep_track(head.kind, request, answer, allocated);
      if (!sent) break;
    }
    // Scripts run one program after the other: the memory of those that ended is free again.
    const std::lock_guard lock(device_mutex_);
    device_.release_left({allocated.begin(), allocated.end()}, stop_);
  }

  static void keep_track(RequestKind kind, const std::string& request, const DeviceAnswer& answer,
                         std::set<std::uint64_t>& allocated) {
    std::uint64_t address = 0;  // both structs begin with it
    if (kind == RequestKind::allocate || kind == RequestKind::host_memory) {
      std::memcpy(&address, answer.payload.data(), sizeof address);
      allocated.insert(address);
    } else if (kind == RequestKind::release) {
      std::memcpy(&address, request.data(), sizeof address);
      allocated.erase(address);
    }
  }

  ProgramListener& device_;
  std::mutex device_mutex_;
  int clients_ = 0;
  FileDescriptor listening_;
  Cancellation stop_;
  std::atomic<bool> asked_{false};
  std::vector<int> sockets_;  // the accepting thread's, then the destructor's
  std::vector<std::thread> threads_;
  std::thread accepting_;
};

Result<FileDescriptor> listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.string().size() >= sizeof address.sun_path)
    return fail(ErrorCode::resource, "the path of temporary files is too long for a socket");
  std::strcpy(address.sun_path, path.c_str());
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid() ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), kBacklog) != 0) {
    return system_error("a socket for the program's runtime");
  }
  return socket;
}

// This process's environment with our runtime in front, if any, and the socket's path.
std::vector<std::string> environment_with(const ProgramRun& run,
                                          const std::filesystem::path& socket) {
  constexpr std::string_view kLibraries = "LD_LIBRARY_PATH=";
  std::vector<std::string> all;
  std::string libraries(kLibraries);
  libraries += run.runtime_directory.string();
  const auto replaced = [&](std::string_view entry) {
    return std::ranges::any_of(run.variables, [&](const std::string& variable) {
      return entry.starts_with(variable.substr(0, variable.find('=') + 1));
    });
  };
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (!text.starts_with(kLibraries) || run.runtime_directory.empty()) {
      if (!replaced(text)) all.emplace_back(text);
    } else if (text.size() > kLibraries.size()) {
      libraries += ':';
      libraries += text.substr(kLibraries.size());
    }
  }
  if (!run.runtime_directory.empty()) all.push_back(std::move(libraries));
  all.push_back(fmt::format("{}={}", kSocketVariable, socket.string()));
  all.insert(all.end(), run.variables.begin(), run.variables.end());
  return all;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts)
    pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In a process group of its own.
Result<pid_t> start(const ProgramRun& run, std::vector<std::string> environment) {
  std::vector<std::string> command = run.command;
  posix_spawnattr_t attributes;
  if (posix_spawnattr_init(&attributes) != 0) return system_error("posix_spawnattr_init");
  (void)posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  (void)posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0)
    return system_error("posix_spawn_file_actions_init");
  for (const auto& [descriptor, file] :
       {std::pair(STDOUT_FILENO, &run.output), std::pair(STDERR_FILENO, &run.errors)}) {
    if (file->empty()) continue;
    (void)posix_spawn_file_actions_addopen(&actions, descriptor, file->c_str(),
                                           O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
  }
  if (!run.directory.empty())
    (void)posix_spawn_file_actions_addchdir_np(&actions, run.directory.c_str());
  pid_t child = 0;
  const std::vector<char*> arguments = pointers_to(command);
  const std::vector<char*> variables = pointers_to(environment);
  const int error = ::posix_spawnp(&child, command.front().c_str(), &actions, &attributes,
                                   arguments.data(), variables.data());
  (void)posix_spawnattr_destroy(&attributes);
  (void)posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return child;
  return fail(error == ENOENT ? ErrorCode::not_found : ErrorCode::io,
              fmt::format("cannot start '{}': {}", command.front(), std::strerror(error)));
}

bool is_too_long(const std::filesystem::path& output) {
  if (output.empty()) return false;
  std::error_code none_yet;
  const auto bytes = std::filesystem::file_size(output, none_yet);
  return !none_yet && bytes > kMostOutputBytes;
}

// Kills the processes whose environment has that variable: what the program started and left
// behind, in whatever process group.
void kill_those_with(const std::string& variable) {
  constexpr int kMostRounds = 20;  // they may go on forking
  const std::string wanted = variable + '\0';
  bool found = true;
  for (int round = 0; found && round < kMostRounds; ++round) {
    found = false;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
      const std::string name = entry.path().filename();
      pid_t process = 0;
      const auto [end, failure] = std::from_chars(name.data(), name.data() + name.size(), process);
      if (failure != std::errc() || *end != '\0' || process == ::getpid()) continue;
      std::ifstream file(entry.path() / "environ", std::ios::binary);
      const std::string environment{std::istreambuf_iterator<char>(file), {}};
      const std::size_t at = environment.find(wanted);
      if (at == std::string::npos || (at > 0 && environment[at - 1] != '\0')) continue;
      found = ::kill(process, SIGKILL) == 0 || found;
    }
  }
}

}  // namespace

Result<ProgramEnd> capture_program(const ProgramRun& run, ProgramListener& device,
                                   const Cancellation& cancellation) {
  const auto directory = TemporaryDirectory::create("regraph-capture-");
  if (!directory) return directory.error();
  const std::filesystem::path socket = directory->path() / "device";
  auto listening = listen_at(socket);
  if (!listening) return listening.error();
  Server server(device, std::move(*listening));
  const auto begin = std::chrono::steady_clock::now();
  const auto child = start(run, environment_with(run, socket));
  if (!child) return child.error();

  ProgramEnd end;
  int status = 0;
  bool killed = false;
  for (;;) {
    const pid_t ended = ::waitpid(*child, &status, WNOHANG);
    end.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (ended == *child) break;
    if (ended < 0 && errno != EINTR) return system_error("waiting for the program");
    end.timed_out = end.timed_out || end.seconds > run.wall_seconds;
    end.too_long_output = end.too_long_output || is_too_long(run.output);
    if (!killed && (end.timed_out || end.too_long_output || cancellation.requested())) {
      killed = true;
      server.stop();
      ::kill(-*child, SIGKILL);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(kPollMilliseconds));
  }
  ::kill(-*child, SIGKILL);  // what it left behind
  kill_those_with(fmt::format("{}={}", kSocketVariable, socket.string()));
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  end.asked = server.asked();
  return end;
}

}  // namespace regraph::capture
