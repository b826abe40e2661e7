// Workers that answer as they are told (fake_score_worker.cpp), and what they were asked.
#pragma once

#include "base/files.h"
#include "score/server/score_workers.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace regraph::score::test {

// Seconds after which what is waited for will not come any more; sanitizers are slow.
inline constexpr double kPatience = 60.0;

inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(kPatience);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

struct Asked {
  int process = 0;
  std::string state;
  std::string completion;
};

class FakeWorkers : public ::testing::Test {
 protected:
  FakeWorkers() : folder_(*TemporaryDirectory::create("regraph-score-")) {}

  [[nodiscard]] ScoreWorkersOptions options(int workers) const {
    ScoreWorkersOptions result;
    result.worker.program.program = REGRAPH_FAKE_SCORE_WORKER;
    result.worker.program.arguments = {folder_.path().string()};
    for (const char* name : {"ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name))
        result.worker.program.environment.push_back(std::string(name) + "=" + value);
    }
    result.worker.candidate_seconds = kPatience;
    result.workers = workers;
    return result;
  }
  [[nodiscard]] std::unique_ptr<ScoreWorkers> start(const ScoreWorkersOptions& options) const {
    auto started = ScoreWorkers::start(options, Cancellation());
    EXPECT_TRUE(started.ok()) << started.error().message;
    return started.ok() ? *std::move(started) : nullptr;
  }

  // All that workers were asked about `state`, or about any; greetings are left out.
  [[nodiscard]] std::vector<Asked> asked(const std::string& state = "") const {
    std::vector<Asked> result;
    std::ifstream file(path("log"));
    for (std::string line; std::getline(file, line);) {
      Asked one;
      std::istringstream fields(line);
      fields >> one.process;
      fields.get();
      std::getline(fields, one.state, ' ');
      std::getline(fields, one.completion);
      if (!one.state.empty() && (state.empty() || one.state == state)) result.push_back(one);
    }
    return result;
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const {
    return folder_.path() / name;
  }
  void make_file(const std::string& name) const { EXPECT_TRUE(write_file(path(name), "").ok()); }

 private:
  TemporaryDirectory folder_;
};

inline ScoreItem item(std::string state, std::string completion, std::string id = "1") {
  return {std::move(id), std::move(state), std::move(completion), false};
}

}  // namespace regraph::score::test
