// What workers do for a run: hands jobs out, takes their results in, and keeps workers that would
// idle busy with work ahead. The one place where the owner waits.
#pragma once

#include "search/ahead_work.h"
#include "search/search_jobs.h"
#include "search/worker_pool.h"

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace regraph {

// The refusal of a step that never came to an end.
inline constexpr const char* kLost = "timeout";

// What came of applying a step.
struct Applied {
  std::shared_ptr<const Candidate> child;  // null when there is none
  std::string refusal;                     // why: kLost, "crash" or an error's name
  std::string message;
  Ending ending = Ending::finished;
};

// What came of judging a candidate; one that crashed or was lost has a verdict that says so.
struct Judged {
  Evaluation evaluation;
  std::vector<StepProposal> proposals;
  Ending ending = Ending::finished;
};

// For the owner thread only.
class SearchWork {
 public:
  // What will probably be asked for next, for so many workers that idle.
  using Planner = std::function<std::vector<Wish>(int workers)>;

  explicit SearchWork(const SearchInputs& inputs);

  // `done` is called once, during a later wait() or collect().
  void apply(ApplyRequest request, std::function<void(Applied)> done);
  void judge(JudgeRequest request, std::function<void(Judged)> done);

  // Who knows what to do ahead; empty: nobody.
  void plan_with(Planner planner);
  [[nodiscard]] AheadWork& ahead() { return ahead_; }

  // Waits a moment for something to be done. Returns false when too many workers are gone to go on.
  [[nodiscard]] bool wait();
  // Takes in what is done by now.
  void collect();
  // Forgets what was asked for; nothing more of it will be done. Confirmations that were begun
  // ahead go on unless `confirmations_too`.
  void drop(bool confirmations_too);
  // Ends everything and waits for that.
  void finish();

  [[nodiscard]] double busy_seconds() const { return pool_.busy_seconds(); }

 private:
  void submit(ApplyRequest request, std::function<void(Applied)> done);
  void submit(JudgeRequest request, std::function<void(Judged)> done);
  void judged_ahead(JudgeRequest request, const JudgeJob* job, std::function<void(Judged)> done);
  void work_ahead();
  void keep_room();
  bool call_due();
  // How long a job may run before it is written off.
  [[nodiscard]] WorkerPool::Clock::duration patience() const;

  const SearchInputs& inputs_;
  Planner planner_;
  bool news_ = false;  // since work ahead was last planned
  WorkerPool::Clock::time_point plan_again_;
  std::optional<WorkerPool::Clock::time_point> crowded_since_;
  std::deque<std::function<void()>> due_;  // results that were there when they were asked for
  WorkerPool pool_;
  AheadWork ahead_;
};

}  // namespace regraph
