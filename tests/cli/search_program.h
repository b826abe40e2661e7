// Runs the real regraph-search in a directory of its own.
#pragma once

#include "base/child_process.h"
#include "base/files.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace regraph::test {

struct ProgramRun {
  int exit_code = -1;
  std::string output;
  std::string error;
  double wall_seconds = 0.0;

  // What is on standard output must be one JSON document and nothing else.
  [[nodiscard]] nlohmann::json json() const {
    auto parsed = nlohmann::json::parse(output, nullptr, false);
    EXPECT_FALSE(parsed.is_discarded()) << "standard output: " << output << "\nerror: " << error;
    return parsed;
  }
  [[nodiscard]] bool complains_of(const std::string& part) const {
    return error.find(part) != std::string::npos;
  }
};

class SearchProgram : public ::testing::Test {
 protected:
  SearchProgram() : directory_(*TemporaryDirectory::create("regraph-cli-")) {}

  // The environment has a compile cache shared by all tests of this program, and nothing of the
  // user's but where the CUDA toolkit is.
  [[nodiscard]] std::vector<std::string> environment() const {
    static const TemporaryDirectory kCache = *TemporaryDirectory::create("regraph-cli-cache-");
    // Of several values of a variable the first counts.
    std::vector<std::string> result = extra_environment_;
    result.push_back("REGRAPH_CACHE_DIR=" + kCache.path().string());
    result.emplace_back("LC_ALL=C");
    for (const char* name : {"PATH", "CUDA_HOME", "CUDA_PATH", "REGRAPH_CUDA_WHEELS",
                             "REGRAPH_CLANG_RESOURCES", "ASAN_OPTIONS", "UBSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) result.push_back(std::string(name) + "=" + value);
    }
    return result;
  }
  // For all runs from now on: "NAME=value".
  void set_environment(const std::string& variable) { extra_environment_.push_back(variable); }

  ProgramRun run(std::vector<std::string> arguments, double wall_seconds = 120.0) const {
    return run_program(REGRAPH_SEARCH_PROGRAM, std::move(arguments), wall_seconds);
  }
  // The same with another program of the project.
  ProgramRun run_program(const std::string& program, std::vector<std::string> arguments,
                         double wall_seconds = 300.0) const {
    ChildRequest request;
    request.program = program;
    request.arguments = std::move(arguments);
    request.environment = environment();
    request.working_directory = directory_.path();
    request.wall_seconds = wall_seconds;
    const Cancellation never;
    const auto outcome = run_child(request, never);
    if (!outcome.ok()) {
      ADD_FAILURE() << outcome.error().message;
      return {};
    }
    EXPECT_EQ(outcome->end, ChildEnd::exited) << "signal " << outcome->signal << "\n"
                                              << outcome->error;
    return {outcome->exit_code, outcome->output, outcome->error, outcome->wall_seconds};
  }

  // Writes a file into the program's directory; returns its name.
  std::string file(const std::string& name, const std::string& content) const {
    EXPECT_TRUE(write_file(directory_.path() / name, content).ok());
    return name;
  }

  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return directory_.path() / name;
  }
  [[nodiscard]] std::string content(const std::string& name) const {
    const auto text = read_file(path(name), 1 << 20);
    EXPECT_TRUE(text.ok()) << text.error().message;
    return text.ok() ? *text : "";
  }
  static std::string example(const std::string& name) {
    return std::string(REGRAPH_SOURCE_DIR) + "/examples/" + name + "/" + name + ".cu";
  }

 private:
  TemporaryDirectory directory_;
  std::vector<std::string> extra_environment_;
};

}  // namespace regraph::test
