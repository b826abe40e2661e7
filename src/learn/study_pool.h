// Work on many kernels, each in a process of its own: one that hangs, crashes or cheats takes
// nobody with it.
#pragma once

#include "base/cancellation.h"
#include "learn/kernel_study.h"

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace regraph::learn {

struct StudyPool {
  std::filesystem::path program;    // regraph-train: carries out `COMMAND -`
  int jobs = 1;                     // processes at once
  double seconds_a_search = 600.0;  // then it is given up
};

struct FailedStudy {
  std::filesystem::path kernel;
  std::string reason;
};

// What is to be done with a kernel, for `regraph-train COMMAND -`.
struct PoolTask {
  std::filesystem::path kernel;  // for messages
  std::string command;
  std::string input;         // on its standard input
  std::size_t searches = 1;  // it may take as long as so many
  bool done = false;         // what it would leave is there
};

// Carries the tasks out. `tell` gets a line when one is done; it is called by one thread at a time.
// Returns those that failed, with their reason; what they had finished is kept.
[[nodiscard]] std::vector<FailedStudy> run_tasks(
    const StudyPool& pool, const std::vector<PoolTask>& tasks, const Cancellation& cancellation,
    const std::function<void(const std::string&)>& tell);

// The same for studies, by `regraph-train study -`.
[[nodiscard]] std::vector<FailedStudy> run_studies(
    const StudyPool& pool, const std::vector<StudyRequest>& studies,
    const Cancellation& cancellation, const std::function<void(const std::string&)>& tell);

}  // namespace regraph::learn
