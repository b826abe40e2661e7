#include "score/server/score_workers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace regraph::score {
namespace {

constexpr int kAttempts = 2;  // at an item
// Items that may be let past the one that waits longest, to spare the opening of a problem.
constexpr int kMostBypassed = 16;
constexpr std::chrono::milliseconds kPatienceStep{20};
constexpr std::chrono::milliseconds kStartAgain{500};

}  // namespace

struct ScoreWorkers::State {
  struct Job {
    ScoreItem item;
    std::string problem;
    std::shared_ptr<const Cancellation> cancellation;
    Done done;
    int attempts = 0;
    std::string failure;  // of the first attempt
  };

  // A worker and its thread.
  struct Slot {
    explicit Slot(const ScoreWorkerOptions& options) : worker(options) {}
    ScoreWorker worker;  // its thread's alone, but while it is idle: then it is whose lock it is
    std::condition_variable wake;
    bool idle = false;
    bool called = false;  // there is something in the queue
    bool alive = false;
    std::string problem;  // of the item that it has; empty: none
    int bypassed = 0;
    std::thread thread;
  };

  explicit State(ScoreWorkersOptions given) : options(std::move(given)) {}

  const ScoreWorkersOptions options;
  mutable std::mutex mutex;
  std::deque<Job> queue;
  std::vector<std::unique_ptr<Slot>> slots;
  ScoreWorkersCounts counts;
  Cancellation stopping;
  // Of the start.
  std::condition_variable first_answers;
  int answered = 0;
  std::optional<Error> start_error;

  // With the lock: the idle worker that is best for the problem, or null.
  Slot* idle_worker(const std::string& problem) {
    Slot* best = nullptr;
    for (const auto& slot : slots) {
      if (!slot->idle) continue;
      if (slot->worker.has_open(problem)) return slot.get();
      if (best == nullptr) best = slot.get();
    }
    return best;
  }

  // `again`: before all others.
  void enqueue(Job job, bool again) {
    std::unique_lock lock(mutex);
    if (stopping.requested()) {
      lock.unlock();
      job.done(no_verdict(job.item, "the scorer is stopping"));
      return;
    }
    // Not handed to the worker: by when it wakes there may be more, and it can choose.
    if (Slot* const slot = idle_worker(job.problem)) {
      slot->idle = false;
      slot->called = true;
      slot->wake.notify_one();
    }
    if (again) {
      queue.push_front(std::move(job));
    } else {
      queue.push_back(std::move(job));
    }
  }

  // With the lock: takes what nobody waits for any more out of the queue.
  std::vector<Job> take_cancelled() {
    const auto wanted = [](const Job& job) { return !job.cancellation->requested(); };
    const auto first = std::stable_partition(queue.begin(), queue.end(), wanted);
    std::vector<Job> dropped(std::make_move_iterator(first), std::make_move_iterator(queue.end()));
    queue.erase(first, queue.end());
    return dropped;
  }

  // With the lock: the item that costs least to open: of a problem that the worker has open, else
  // of one that no other is busy with, as that one would take its items without opening it again.
  std::deque<Job>::iterator cheapest(const Slot& slot) {
    const auto open = std::ranges::find_if(
        queue, [&](const Job& job) { return slot.worker.has_open(job.problem); });
    if (open != queue.end()) return open;
    const auto untouched = std::ranges::find_if(queue, [&](const Job& job) {
      return std::ranges::none_of(slots,
                                  [&](const auto& other) { return other->problem == job.problem; });
    });
    return untouched != queue.end() ? untouched : queue.begin();
  }

  // With the lock: the next of the queue for a worker.
  std::optional<Job> take_queued(Slot& slot) {
    if (queue.empty()) return std::nullopt;
    const auto chosen = slot.bypassed < kMostBypassed ? cheapest(slot) : queue.begin();
    slot.bypassed = chosen == queue.begin() ? 0 : slot.bypassed + 1;
    Job job = std::move(*chosen);
    queue.erase(chosen);
    return job;
  }

  // Waits for an item. Nothing when the workers stop.
  std::optional<Job> next(Slot& slot) {
    std::unique_lock lock(mutex);
    slot.problem.clear();
    while (!stopping.requested()) {
      slot.called = false;
      if (std::vector<Job> dropped = take_cancelled(); !dropped.empty()) {
        lock.unlock();
        for (const Job& job : dropped)
          job.done(no_verdict(job.item, "cancelled"));
        lock.lock();
        continue;
      }
      if (std::optional<Job> job = take_queued(slot)) {
        slot.problem = job->problem;
        ++counts.running;
        return job;
      }
      slot.idle = true;
      slot.wake.wait(lock, [&] { return slot.called || stopping.requested(); });
      slot.idle = false;
    }
    return std::nullopt;
  }

  bool any_alive() {
    const std::lock_guard lock(mutex);
    return std::ranges::any_of(slots, [](const auto& slot) { return slot->alive; });
  }

  // A new process after one that was lost. Where it cannot be started, others get the items, as
  // long as there are others.
  void replace(Slot& slot) {
    while (!stopping.requested()) {
      const bool alive = slot.worker.start().ok();
      {
        std::unique_lock lock(mutex);
        slot.alive = alive;
        if (alive) return;
        slot.wake.wait_for(lock, kStartAgain, [&] { return stopping.requested(); });
      }
      if (!any_alive()) return;
    }
  }

  void finish(const Job& job, const Score& score) {
    {
      const std::lock_guard lock(mutex);
      --counts.running;
      if (score.facts.outcome != learn::AnswerOutcome::no_verdict) ++counts.scored;
    }
    job.done(score);
  }

  void lost(Slot& slot, const Error& error, const Job& job) {
    {
      const std::lock_guard lock(mutex);
      slot.alive = false;
      slot.problem.clear();
      ++counts.restarts;
    }
    if (options.report) {
      options.report(fmt::format("lost a worker over an answer to state {}: {}", job.item.state,
                                 error.message));
    }
  }

  void run(Slot& slot, Job job) {
    const Result<Score> score = slot.worker.ask(job.item, job.problem, stopping);
    if (score) return finish(job, *score);
    if (stopping.requested()) return finish(job, no_verdict(job.item, "the scorer is stopping"));
    lost(slot, score.error(), job);
    if (++job.attempts >= kAttempts) {
      finish(job, no_verdict(job.item, fmt::format("{} workers failed: {}; {}", kAttempts,
                                                   job.failure, score.error().message)));
    } else {
      job.failure = score.error().message;
      {
        const std::lock_guard lock(mutex);
        --counts.running;
      }
      enqueue(std::move(job), true);
    }
    replace(slot);
  }

  // A state that there is none of: a sound worker says so, and one that cannot work says why.
  void greet(Slot& slot) {
    const Result<Score> answer = slot.worker.ask({"first", "", "", false}, "", stopping);
    const std::lock_guard lock(mutex);
    slot.alive = answer.ok();
    if (!answer && !start_error) start_error = answer.error();
    ++answered;
    first_answers.notify_all();
  }

  void work(Slot& slot) {
    greet(slot);
    while (std::optional<Job> job = next(slot))
      run(slot, *std::move(job));
  }

  void stop() {
    std::deque<Job> left;
    {
      const std::lock_guard lock(mutex);
      stopping.request();
      left.swap(queue);
      for (const auto& slot : slots)
        slot->wake.notify_one();
    }
    for (const Job& job : left)
      job.done(no_verdict(job.item, "the scorer is stopping"));
  }
};

ScoreWorkers::ScoreWorkers(std::unique_ptr<State> state) : state_(std::move(state)) {}

ScoreWorkers::~ScoreWorkers() {
  stop();
  for (const auto& slot : state_->slots) {
    if (slot->thread.joinable()) slot->thread.join();
  }
}

Result<std::unique_ptr<ScoreWorkers>> ScoreWorkers::start(ScoreWorkersOptions options,
                                                          const Cancellation& cancellation) {
  auto owner = std::make_unique<State>(std::move(options));
  State& state = *owner;
  const int count = std::max(1, state.options.workers);
  for (int i = 0; i < count; ++i)
    state.slots.push_back(std::make_unique<State::Slot>(state.options.worker));
  std::unique_ptr<ScoreWorkers> workers(new ScoreWorkers(std::move(owner)));
  for (const auto& slot : state.slots)
    slot->thread = std::thread([&state, worker = slot.get()] { state.work(*worker); });

  std::unique_lock lock(state.mutex);
  while (state.answered < count && !state.start_error && !cancellation.requested())
    state.first_answers.wait_for(lock, kPatienceStep);
  if (state.start_error) return *state.start_error;
  if (cancellation.requested()) return fail(ErrorCode::cancelled, "cancelled");
  return workers;
}

void ScoreWorkers::submit(ScoreItem item, std::string problem,
                          std::shared_ptr<const Cancellation> cancellation, Done done) {
  state_->enqueue(
      {std::move(item), std::move(problem), std::move(cancellation), std::move(done), 0, {}},
      false);
}

Score ScoreWorkers::score(const ScoreItem& item, const std::string& problem,
                          const Cancellation& cancellation) {
  struct Waiting {
    std::mutex mutex;
    std::condition_variable over;
    std::optional<Score> score;
  };
  const auto waiting = std::make_shared<Waiting>();
  const auto dropped = std::make_shared<Cancellation>();
  submit(item, problem, dropped, [waiting](const Score& score) {
    const std::lock_guard lock(waiting->mutex);
    waiting->score = score;
    waiting->over.notify_all();
  });
  std::unique_lock lock(waiting->mutex);
  while (!waiting->score && !cancellation.requested())
    waiting->over.wait_for(lock, kPatienceStep);
  if (waiting->score) return *waiting->score;
  dropped->request();
  return no_verdict(item, "cancelled");
}

void ScoreWorkers::stop() {
  state_->stop();
}

ScoreWorkersCounts ScoreWorkers::counts() const {
  const std::lock_guard lock(state_->mutex);
  ScoreWorkersCounts counts = state_->counts;
  counts.workers = static_cast<int>(state_->slots.size());
  counts.queued = state_->queue.size();
  for (const auto& slot : state_->slots) {
    if (slot->alive) ++counts.alive;
    if (slot->alive && slot->idle) ++counts.idle;
  }
  return counts;
}

}  // namespace regraph::score
