#include "eval/compile/worker/folder_keeper.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace regraph::compile_internal {

namespace {

constexpr int kOrphaned = SIGTERM;

sigset_t watched() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, kOrphaned);
  return set;
}

void remove(const std::string& folder) {
  constexpr int kTries = 20;
  constexpr useconds_t kPause = 50000;
  std::error_code code;
  for (int i = 0; i < kTries; ++i) {
    std::filesystem::remove_all(folder, code);
    if (!code) return;
    ::usleep(kPause);  // what is being ended may still have been writing
  }
}

}  // namespace

void expect_orphanage() {
  const sigset_t set = watched();
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  ::prctl(PR_SET_PDEATHSIG, kOrphaned);
}

void stop_expecting_orphanage() {
  const sigset_t set = watched();
  ::sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

void keep_folder(const std::string& folder, pid_t child) {
  const sigset_t set = watched();
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (::sigwaitinfo(&set, nullptr) != kOrphaned) continue;
    // Started by hand, the group is the shell's.
    if (::getpgrp() == ::getpid()) ::kill(0, SIGTERM);
    ::kill(child, SIGKILL);
    remove(folder);
    ::_exit(EXIT_FAILURE);
  }
  if (WIFSIGNALED(status)) {
    ::signal(WTERMSIG(status), SIG_DFL);
    ::raise(WTERMSIG(status));
  }
  ::_exit(WEXITSTATUS(status));
}

}  // namespace regraph::compile_internal
