// The real program against a real server on loopback, whose answers stand in tests/llm.
#pragma once

#include "cli/running_program.h"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace regraph::test {

class LanguageModelCase : public RunningProgram {
 protected:
  // Starts the server with further arguments; returns its base URL.
  std::string serve(std::vector<std::string> arguments = {}) {
    const std::string port_file = path("port").string();
    std::filesystem::remove(port_file);
    arguments.insert(arguments.begin(),
                     {"python3", std::string(REGRAPH_SOURCE_DIR) + "/tests/llm/scripted_server.py",
                      "--port-file", port_file});
    std::vector<char*> pointers;
    pointers.reserve(arguments.size() + 1);
    for (std::string& argument : arguments)
      pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    pid_t child = -1;
    EXPECT_EQ(posix_spawnp(&child, "python3", &actions, nullptr, pointers.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    servers_.push_back(child);
    const auto end = Clock::now() + std::chrono::seconds(30);
    std::string port;
    while (Clock::now() < end) {
      std::ifstream file(port_file);
      std::getline(file, port);
      if (!port.empty() && !file.eof()) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    EXPECT_FALSE(port.empty()) << "the server did not start";
    return "http://127.0.0.1:" + port + "/v1";
  }
  void stop_servers() {
    for (const pid_t server : servers_) {
      kill(server, SIGKILL);
      waitpid(server, nullptr, 0);
    }
    servers_.clear();
  }
  void TearDown() override { stop_servers(); }

  [[nodiscard]] static std::vector<std::string> search(const std::string& kernel,
                                                       const std::string& url,
                                                       std::vector<std::string> more,
                                                       const std::string& expander = "llm") {
    std::vector<std::string> all = {kernel,   "--device",  "h200",    "--llm-model",
                                    "hand",   "--llm-url", url,       "--expander",
                                    expander, "--json",    "--quiet", "--llm-no-store"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  // What an answer is: paths, seconds and addresses differ from run to run.
  [[nodiscard]] static nlohmann::json answer(nlohmann::json result) {
    result.erase("search_seconds");
    result.erase("workers");
    for (const char* written : {"best", "likely"}) {
      if (!result.contains(written) || result[written].is_null()) continue;
      result[written].erase("path");
      result[written].erase("manifest");
    }
    result["language_model"].erase("from");
    result["language_model"].erase("waiting_seconds");
    return result;
  }
  static std::string row_sums() {
    return std::string(REGRAPH_SOURCE_DIR) + "/tests/llm/answers/row_sums/row_sums.cu";
  }

 private:
  std::vector<pid_t> servers_;
};

}  // namespace regraph::test
