#include "search/search_work.h"

#include <utility>

namespace regraph {

namespace {

using std::chrono::milliseconds;

// How often cancellation and time limits are looked at.
constexpr milliseconds kPollInterval{20};

// A call may overrun its own limit by this much before its worker is written off: killing compiler
// processes and unwinding take a moment.
constexpr double kGraceShare = 0.5;
constexpr double kGraceSeconds = 1.0;

// How long more jobs than processors may run before work ahead has to give way: a step is applied
// in less, and an evaluation that was begun ahead may be worth seconds.
constexpr milliseconds kCrowdedTime{50};

// After planning, the owner has this many times as long for other things.
constexpr int kPlanningPause = 1;

Applied result_of(const ApplyJob& job) {
  if (job.child != nullptr) return {job.child, "", "", Ending::finished};
  return {nullptr, name(job.refusal.code), job.refusal.message, Ending::finished};
}

Applied failure(Ending ending) {
  return {nullptr, ending == Ending::lost ? kLost : "crash", "", ending};
}

Judged judged_failure(Ending ending) {
  Judged judged;
  judged.ending = ending;
  const bool lost = ending == Ending::lost;
  judged.evaluation.verdict = lost ? Verdict::timeout : Verdict::crash;
  judged.evaluation.message = lost ? "the evaluation did not come to an end and was written off"
                                   : "the evaluator ended with an exception";
  return judged;
}

}  // namespace

SearchWork::SearchWork(const SearchInputs& inputs)
    : inputs_(inputs),
      pool_(inputs.config.jobs + inputs.config.extra_workers, inputs.config.jobs),
      ahead_(inputs, pool_) {}

void SearchWork::apply(ApplyRequest request, std::function<void(Applied)> done) {
  news_ = true;
  const bool known = ahead_.take(request, [this, request, done](const ApplyJob* job) {
    if (job == nullptr) return submit(request, done);
    due_.emplace_back([done, applied = result_of(*job)] { done(applied); });
  });
  if (!known) submit(std::move(request), std::move(done));
}

void SearchWork::submit(ApplyRequest request, std::function<void(Applied)> done) {
  auto job = std::make_shared<ApplyJob>(inputs_, std::move(request));
  pool_.submit(job, [job, done = std::move(done)](Ending ending) {
    done(ending == Ending::finished ? result_of(*job) : failure(ending));
  });
}

void SearchWork::judge(JudgeRequest request, std::function<void(Judged)> done) {
  news_ = true;
  const bool known = ahead_.take(
      request, [this, request, done](const JudgeJob* job) { judged_ahead(request, job, done); });
  if (!known) submit(std::move(request), std::move(done));
}

void SearchWork::judged_ahead(JudgeRequest request, const JudgeJob* job,
                              std::function<void(Judged)> done) {
  if (job == nullptr) return submit(std::move(request), std::move(done));
  const std::optional<ExpansionContext>& context = job->request.context;
  // What can be done next is told of this very candidate and the way it was come by.
  const bool same = !request.context || !job->evaluation.correct() ||
                    (context && context->history == request.context->history &&
                     job->request.candidate == request.candidate);
  if (!same) {
    request.evaluation = job->evaluation;
    return submit(std::move(request), std::move(done));
  }
  due_.emplace_back([done = std::move(done), judged = Judged{job->evaluation, job->proposals,
                                                             Ending::finished}] { done(judged); });
}

void SearchWork::submit(JudgeRequest request, std::function<void(Judged)> done) {
  auto job = std::make_shared<JudgeJob>(inputs_, std::move(request));
  pool_.submit(job, [job, done = std::move(done)](Ending ending) {
    if (ending != Ending::finished) return done(judged_failure(ending));
    done({std::move(job->evaluation), std::move(job->proposals), ending});
  });
}

void SearchWork::plan_with(Planner planner) {
  planner_ = std::move(planner);
  news_ = true;
}

bool SearchWork::wait() {
  if (!call_due()) {
    work_ahead();
    if (pool_.wait(kPollInterval)) news_ = true;
    keep_room();
  }
  pool_.write_off(patience());
  return !pool_.crippled();
}

void SearchWork::collect() {
  while (call_due() || pool_.wait(milliseconds(0))) {
  }
}

bool SearchWork::call_due() {
  if (due_.empty()) return false;
  const std::function<void()> call = std::move(due_.front());
  due_.pop_front();
  call();
  return true;
}

void SearchWork::work_ahead() {
  if (!planner_ || !news_ || !ahead_.possible() || ahead_.room() <= 0) return;
  const auto begin = WorkerPool::Clock::now();
  if (begin < plan_again_) return;
  news_ = false;
  ahead_.start(planner_(ahead_.room()));
  const auto end = WorkerPool::Clock::now();
  plan_again_ = end + kPlanningPause * (end - begin);
}

void SearchWork::keep_room() {
  if (pool_.idle() >= 0) {
    crowded_since_.reset();
    return;
  }
  const auto now = WorkerPool::Clock::now();
  if (!crowded_since_) crowded_since_ = now;
  if (now - *crowded_since_ >= kCrowdedTime) ahead_.make_room();
}

void SearchWork::drop(bool confirmations_too) {
  planner_ = nullptr;
  due_.clear();
  pool_.drop_submitted();
  ahead_.stop(confirmations_too);
}

void SearchWork::finish() {
  drop(true);
  pool_.finish();
}

WorkerPool::Clock::duration SearchWork::patience() const {
  EvaluationBudget budget;
  budget.wall_seconds = inputs_.config.evaluation_wall_seconds;
  // A measurement ends with a proposal, and an expander may look at its own work.
  const double longest = inputs_.evaluator.longest_seconds(
                             budget, inputs_.config.jobs + inputs_.config.extra_workers) +
                         inputs_.expander.longest_seconds();
  const double seconds = longest * (1.0 + kGraceShare) + kGraceSeconds;
  return std::chrono::duration_cast<WorkerPool::Clock::duration>(
      std::chrono::duration<double>(seconds));
}

}  // namespace regraph
