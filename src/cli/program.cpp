#include "cli/program.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

namespace regraph::cli {
namespace {

// Set from the signal handler, hence global; everything else gets it passed.
Cancellation g_interrupted;

// Whoever says something has the process's one standard error in mind, hence global.
std::atomic<std::chrono::steady_clock::time_point> g_last_said;

extern "C" void on_signal(int number) {
  if (g_interrupted.requested()) {
    // Asked twice: leave at once, with the default action of the signal.
    std::signal(number, SIG_DFL);
    std::raise(number);
  }
  g_interrupted.request();
}

std::filesystem::path path_of_this(const char* argv0) {
  std::error_code error;
  auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(argv0) : self;
}

}  // namespace

ExitCode exit_code_of(FailureCause cause) {
  switch (cause) {
    case FailureCause::usage:
      return kUsage;
    case FailureCause::unusable_kernel:
      return kUnusableKernel;
    case FailureCause::no_device:
      return kNoDevice;
    case FailureCause::interrupted:
      return kInterrupted;
    case FailureCause::internal:
      break;
  }
  return kInternalError;
}

Program::Program(std::string name, const char* argv0)
    : name_(std::move(name)), installation_(Installation::of_program(path_of_this(argv0))) {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is an error like a full disk
}

const Cancellation& Program::interrupted() const {
  return g_interrupted;
}

void Program::say(const std::string& text) const {
  cli::say(name_ + ": " + text + "\n");
}

int Program::fail(const SessionError& error) const {
  for (const std::string& note : error.notes)
    cli::say("note: " + note + "\n");
  say(error.message);
  return exit_code_of(error.cause);
}

int Program::print(const std::string& text, int exit_code) const {
  const bool written = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
  if (written) return exit_code;
  say("the result could not be written to standard output");
  return kInternalError;
}

void say(const std::string& text) {
  g_last_said = std::chrono::steady_clock::now();
  std::fputs(text.c_str(), stderr);
}

std::chrono::steady_clock::time_point last_said() {
  return g_last_said;
}

int guarded(const char* name, int argc, char** argv, int (*run)(int, char**)) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr,
                 "%s: out of memory; does a test size or a grid in the manifest ask for more than "
                 "this machine has? Give smaller 'tests'\n",
                 name);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: internal error: %s\n", name, error.what());
  }
  return kInternalError;
}

}  // namespace regraph::cli
