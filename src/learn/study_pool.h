// Studies of many kernels, each in a process of its own: one that hangs, crashes or cheats takes
// nobody with it.
#pragma once

#include "base/cancellation.h"
#include "learn/kernel_study.h"

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace regraph::learn {

struct StudyPool {
  std::filesystem::path program;    // regraph-train: carries out `study FILE`
  int jobs = 1;                     // processes at once
  double seconds_a_search = 600.0;  // then it is given up
};

struct FailedStudy {
  std::filesystem::path kernel;
  std::string reason;
};

// Carries the studies out. `tell` gets a line when one is done; it is called by one thread at a
// time. Returns those that failed, with their reason; what they had finished is kept.
[[nodiscard]] std::vector<FailedStudy> run_studies(
    const StudyPool& pool, const std::vector<StudyRequest>& studies,
    const Cancellation& cancellation, const std::function<void(const std::string&)>& tell);

}  // namespace regraph::learn
