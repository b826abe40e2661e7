#include "eval/gpu/worker/keeper.h"

#include <cctype>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <initializer_list>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace regraph::gpu::worker {
namespace {

pid_t parent_of(const char* process) {
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%s/stat", process);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return 0;
  char text[512] = {};
  const std::size_t bytes = std::fread(text, 1, sizeof(text) - 1, file);
  std::fclose(file);
  text[bytes] = '\0';
  // The name comes before, in parentheses, and may hold anything.
  const char* const name_end = std::strrchr(text, ')');
  int parent = 0;
  if (name_end == nullptr || std::sscanf(name_end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

void kill_children() {
  DIR* const processes = ::opendir("/proc");
  if (processes == nullptr) return;
  const pid_t self = ::getpid();
  while (const dirent* entry = ::readdir(processes)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) == 0) continue;
    if (parent_of(entry->d_name) == self) ::kill(std::atoi(entry->d_name), SIGKILL);
  }
  ::closedir(processes);
}

// Children of a child that dies become ours: once we have none, there is no descendant left.
void end_all(pid_t program) {
  constexpr int kNapMilliseconds = 2;
  for (;;) {
    // Also where /proc is not to be read. Not after it was reaped: the number may be another's.
    if (program != 0) ::kill(program, SIGKILL);
    kill_children();
    for (;;) {
      const pid_t reaped = ::waitpid(-1, nullptr, WNOHANG);
      if (reaped < 0 && errno == ECHILD) return;
      if (reaped <= 0) break;
      if (reaped == program) program = 0;
    }
    ::poll(nullptr, 0, kNapMilliseconds);
  }
}

}  // namespace

int keep(char* const* program) {
  sigset_t awaited;
  sigemptyset(&awaited);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT, SIGHUP})
    sigaddset(&awaited, signal);
  sigset_t before;
  ::sigprocmask(SIG_BLOCK, &awaited, &before);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  // Until here the coordinator's end was SIGKILL.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  const pid_t child = ::fork();
  if (child == 0) {
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::execv(program[0], program);
    std::fprintf(stderr, "cannot run '%s': %s\n", program[0], std::strerror(errno));
    ::_exit(127);
  }
  // Held open they would hide from the coordinator that the worker is gone.
  ::close(STDIN_FILENO);
  ::close(STDOUT_FILENO);
  if (child < 0) return 127;
  for (;;) {
    const int signal = ::sigwaitinfo(&awaited, nullptr);
    if (signal < 0) continue;
    if (signal != SIGCHLD) break;
    for (;;) {
      int status = 0;
      const pid_t reaped = ::waitpid(-1, &status, WNOHANG);
      if (reaped <= 0) break;
      if (reaped != child) continue;
      end_all(0);
      return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
  }
  end_all(child);
  return 128 + SIGTERM;
}

}  // namespace regraph::gpu::worker
