// What all programs of the project do alike: signals, output, exit codes, the last catch.
#pragma once

#include "base/cancellation.h"
#include "session/installation.h"
#include "session/session_error.h"

#include <chrono>
#include <string>

namespace regraph::cli {

// What the exit codes mean. Documented in the README.
enum ExitCode : int {
  kImproved = 0,       // a verified, faster kernel was found
  kInternalError = 1,  // a bug, or the operating system failed
  kUsage = 2,          // a flag, file, device name, manifest, graph or run that cannot be read, or
                       // a place for results that cannot be written to
  kNoImprovement = 3,  // the search ended and nothing was faster beyond the uncertainty
  kUnusableKernel =
      4,          // no usable kernel in the file; the original does not compile, run or verify
  kNoDevice = 5,  // no device to search for, or no CUDA toolkit
  kNoAnswer = 6,  // a language model had to apply the steps, and no answer ever came
  kLeak = 7,      // families of a corpus that must differ do not
  kNotEqual = 8,  // a candidate does not compute what the original does, or could not be judged
  kInterrupted = 130,  // stopped by a signal
};

[[nodiscard]] ExitCode exit_code_of(FailureCause cause);

// One run of a program.
class Program {
 public:
  // Catches SIGINT and SIGTERM from now on: the first asks to stop, the second ends the process.
  // `name` is e.g. "regraph-search"; `argv0` the path it was started by, where the system has no
  // better one.
  Program(std::string name, const char* argv0);

  // Requested by a signal. Valid as long as the process.
  [[nodiscard]] const Cancellation& interrupted() const;
  // The worker programs and files that belong to this one.
  [[nodiscard]] const Installation& installation() const { return installation_; }

  // "NAME: text", ended by a newline, on standard error.
  void say(const std::string& text) const;
  // Says why, after the error's notes, and returns the exit code.
  [[nodiscard]] int fail(const SessionError& error) const;
  // The program's one output. Returns `exit_code`, or kInternalError where it could not be written:
  // a reader that went away or a full disk must not look like success.
  [[nodiscard]] int print(const std::string& text, int exit_code) const;

 private:
  std::string name_;
  Installation installation_;
};

// Text on standard error, as it is. Thread-safe.
void say(const std::string& text);
// When that was last done; the begin of the clock where it never was. Thread-safe.
[[nodiscard]] std::chrono::steady_clock::time_point last_said();

// Runs `run` and turns what it throws into a message and an exit code.
[[nodiscard]] int guarded(const char* name, int argc, char** argv, int (*run)(int, char**));

}  // namespace regraph::cli
