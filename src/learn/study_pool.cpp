#include "learn/study_pool.h"

#include "base/child_process.h"
#include "base/files.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace regraph::learn {

namespace {

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry)
    result.emplace_back(*entry);
  return result;
}

bool complete(const StudyRequest& study) {
  if (study.replace) return false;
  return std::ranges::all_of(study.searches, [&](const StudySearch& search) {
    std::error_code ignored;
    return std::filesystem::exists(digest_path(study.output, search.label), ignored);
  });
}

std::string last_line(const std::string& text) {
  const std::size_t end = text.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text.find_last_of('\n', end);
  return text.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin + 1) + 1);
}

// Empty when all went well.
std::string carry_out(const StudyPool& pool, const PoolTask& task,
                      const Cancellation& cancellation) {
  ChildRequest request;
  request.program = pool.program;
  request.arguments = {task.command, "-"};
  request.environment = own_environment();
  request.input = task.input;
  request.wall_seconds =
      pool.seconds_a_search * static_cast<double>(std::max<std::size_t>(task.searches, 1));
  const auto outcome = run_child(request, cancellation);
  if (!outcome) return outcome.error().message;
  switch (outcome->end) {
    case ChildEnd::exited:
      return outcome->exit_code == 0 ? "" : last_line(outcome->error);
    case ChildEnd::signalled:
      return fmt::format("it crashed (signal {})", outcome->signal);
    case ChildEnd::timed_out:
      return fmt::format("it did not come to an end in {:.0f} s", request.wall_seconds);
    case ChildEnd::output_limit:
      return "it wrote too much";
    case ChildEnd::cancelled:
      return "interrupted";
  }
  return "?";
}

}  // namespace

std::vector<FailedStudy> run_tasks(const StudyPool& pool, const std::vector<PoolTask>& tasks,
                                   const Cancellation& cancellation,
                                   const std::function<void(const std::string&)>& tell) {
  std::vector<FailedStudy> failed;
  std::mutex mutex;
  std::atomic<std::size_t> next = 0;
  std::size_t done = 0;
  const auto work = [&] {
    while (!cancellation.requested()) {
      const std::size_t at = next++;
      if (at >= tasks.size()) return;
      const PoolTask& task = tasks[at];
      const std::string reason = task.done ? std::string() : carry_out(pool, task, cancellation);
      const std::lock_guard lock(mutex);
      ++done;
      if (!reason.empty()) failed.push_back({task.kernel, reason});
      tell(fmt::format("[{}/{}] {}{}", done, tasks.size(), task.kernel.string(),
                       reason.empty() ? "" : ": left out: " + reason));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (int job = 0; job < std::max(pool.jobs, 1); ++job)
      threads.emplace_back(work);
  }
  std::ranges::sort(failed, {}, &FailedStudy::kernel);
  return failed;
}

std::vector<FailedStudy> run_studies(const StudyPool& pool,
                                     const std::vector<StudyRequest>& studies,
                                     const Cancellation& cancellation,
                                     const std::function<void(const std::string&)>& tell) {
  std::vector<PoolTask> tasks;
  tasks.reserve(studies.size());
  for (const StudyRequest& study : studies)
    tasks.push_back(
        {study.kernel, "study", study_text(study), study.searches.size(), complete(study)});
  return run_tasks(pool, tasks, cancellation, tell);
}

}  // namespace regraph::learn
