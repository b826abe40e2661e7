#include "eval/compile/worker/tool_run.h"

#include <cctype>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace regraph::compile_internal {

namespace {

constexpr std::size_t kLargestLog = std::size_t{1} << 20;
constexpr int kNotStarted = 127;

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& string : strings)
    result.push_back(const_cast<char*>(string.c_str()));
  result.push_back(nullptr);
  return result;
}

// Until nobody can write any more.
std::string read_log(int descriptor) {
  std::string log;
  char buffer[65536];
  while (true) {
    const ssize_t got = ::read(descriptor, buffer, sizeof(buffer));
    if (got > 0) {
      log.append(buffer, std::min(static_cast<std::size_t>(got), kLargestLog - log.size()));
    } else if (got == 0 || errno != EINTR) {
      return log;
    }
  }
}

unsigned count_tasks() {
  unsigned tasks = 0;
  std::error_code code;
  for (const auto& process : std::filesystem::directory_iterator("/proc", code)) {
    const std::string name = process.path().filename().string();
    struct stat about {};
    if (std::isdigit(static_cast<unsigned char>(name.front())) == 0) continue;
    if (::stat((process.path() / "task").c_str(), &about) != 0 || about.st_uid != ::getuid())
      continue;
    tasks += static_cast<unsigned>(about.st_nlink) - 2;  // a folder a thread
  }
  return tasks;
}

}  // namespace

ToolRun run_tool(const ToolCommand& command) {
  std::vector<std::string> arguments = {command.program};
  arguments.insert(arguments.end(), command.arguments.begin(), command.arguments.end());
  const std::vector<char*> argument_pointers = pointers(arguments);
  const std::vector<char*> environment_pointers = pointers(command.environment);
  ToolRun run;
  run.status = W_EXITCODE(kNotStarted, 0);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return run;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool ready = ::dup2(pipe[1], STDOUT_FILENO) >= 0 && ::dup2(pipe[1], STDERR_FILENO) >= 0 &&
                       ::chdir(command.directory.c_str()) == 0;
    if (ready)
      ::execve(command.program.c_str(), argument_pointers.data(), environment_pointers.data());
    ::_exit(kNotStarted);
  }
  ::close(pipe[1]);
  if (child > 0) {
    run.log = read_log(pipe[0]);
    while (::waitpid(child, &run.status, 0) < 0 && errno == EINTR) {
    }
  }
  ::close(pipe[0]);
  return run;
}

void limit_processes(unsigned further) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NPROC, &limit) != 0) return;
  const rlimit before = limit;
  limit.rlim_cur = std::min<rlim_t>(count_tasks() + further, before.rlim_max);
  if (::setrlimit(RLIMIT_NPROC, &limit) != 0) return;
  // In a container others of the same number may count whom /proc does not show.
  const pid_t probe = ::fork();
  if (probe == 0) ::_exit(0);
  if (probe > 0) {
    while (::waitpid(probe, nullptr, 0) < 0 && errno == EINTR) {
    }
    limit.rlim_max = limit.rlim_cur;
    ::setrlimit(RLIMIT_NPROC, &limit);
  } else {
    ::setrlimit(RLIMIT_NPROC, &before);
  }
}

}  // namespace regraph::compile_internal
