// Runs the real regraph-search beside the test, to be sent signals.
#pragma once

#include "cli/search_program.h"

#include <chrono>
#include <cstdint>
#include <fcntl.h>
#include <fstream>
#include <signal.h>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <vector>

namespace regraph::test {

// The real program, running beside the test.
class RunningProgram : public SearchProgram {
 protected:
  using Clock = std::chrono::steady_clock;

  // Starts the program with its standard error in the file `error`.
  pid_t start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), REGRAPH_SEARCH_PROGRAM);
    std::vector<std::string> variables = environment();
    const auto pointers = [](std::vector<std::string>& strings) {
      std::vector<char*> result;
      result.reserve(strings.size() + 1);
      for (std::string& string : strings)
        result.push_back(string.data());
      result.push_back(nullptr);
      return result;
    };
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, path("").c_str());
    constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(&actions, 1, path("output").c_str(), kFlags, 0600);
    posix_spawn_file_actions_addopen(&actions, 2, path("error").c_str(), kFlags, 0600);
    pid_t child = -1;
    EXPECT_EQ(posix_spawn(&child, REGRAPH_SEARCH_PROGRAM, &actions, nullptr,
                          pointers(arguments).data(), pointers(variables).data()),
              0);
    posix_spawn_file_actions_destroy(&actions);
    return child;
  }

  bool wait_until_error_holds(const std::string& text) const {
    const auto end = Clock::now() + std::chrono::seconds(60);
    while (Clock::now() < end) {
      std::ifstream file(path("error"));
      const std::string content{std::istreambuf_iterator<char>(file), {}};
      if (content.find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return false;
  }

  // Until the process has a handler for the signal; earlier, what it inherited decides.
  static bool wait_until_caught(pid_t child, int signal) {
    const auto end = Clock::now() + std::chrono::seconds(30);
    while (Clock::now() < end) {
      std::ifstream status("/proc/" + std::to_string(child) + "/status");
      for (std::string line; std::getline(status, line);) {
        if (!line.starts_with("SigCgt:")) continue;
        const std::uint64_t caught = std::stoull(line.substr(7), nullptr, 16);
        if ((caught >> (signal - 1) & 1) != 0) return true;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return false;
  }

  // Exit code, or -1 when it had to be killed or died of a signal.
  static int wait_for_end(pid_t child) {
    const auto end = Clock::now() + std::chrono::seconds(30);
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
      if (Clock::now() > end) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        return -1;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
};

}  // namespace regraph::test
