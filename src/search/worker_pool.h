// Runs jobs on threads and hands their completions to one owner thread.
//
//   submit        what the search needs: at most `workers` at once, the rest waits in order
//   start_ahead   what may be needed later: runs only on a worker that would idle, never waits
//
// Neither delays the other: a job that is submitted starts although work ahead keeps all workers
// busy; then there is one thread more than wanted until something ends or is told to.
#pragma once

#include "base/cancellation.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace regraph {

// A piece of work. `run` is called once on a worker; it may throw. Owned jointly by the owner and
// the worker, so that either may let go first.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;

  Cancellation cancellation;  // polled by run()
  double seconds = 0.0;       // that run() took; valid after completion
};

// How a job ended for its owner.
enum class Ending : std::uint8_t {
  finished,
  threw,  // run() ended by an exception
  lost,   // written off; it may still be running, so nothing of it may be looked at
};

// Member functions are for the owner thread only.
class WorkerPool {
 public:
  using Clock = std::chrono::steady_clock;
  using Completion = std::function<void(Ending)>;  // called on the owner thread
  static constexpr int kSpareWorkers = 16;

  // `workers` for submitted jobs; work ahead starts while fewer than `processors` jobs run.
  WorkerPool(int workers, int processors);
  explicit WorkerPool(int workers) : WorkerPool(workers, workers) {}
  // Asks all jobs to stop and waits for those that run; completions are not called.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  void submit(std::shared_ptr<Job> job, Completion done);
  // Returns false when no worker idles.
  [[nodiscard]] bool start_ahead(std::shared_ptr<Job> job, Completion done);
  // Workers that would idle; negative when more jobs run than there are processors.
  [[nodiscard]] int idle() const { return processors_ - static_cast<int>(running_.size()); }

  // Calls the completion of one job that has ended. Returns false if none did within `timeout`.
  bool wait(std::chrono::milliseconds timeout);
  // Writes off jobs that have run for longer than `limit`: they are asked to stop and complete as
  // lost. A submitted one keeps its thread, but a spare takes its place.
  void write_off(Clock::duration limit);
  // Whether more submitted jobs were written off than spares exist, so that some of the workers are
  // gone.
  [[nodiscard]] bool crippled() const { return written_off_ > kSpareWorkers; }

  // Drops submitted jobs: those that wait, and those that run are asked to stop. Their completions
  // are not called.
  void drop_submitted();
  // The same for all jobs, and waits for them.
  void finish();
  // Seconds that all jobs that have ended took together, and those started ahead.
  [[nodiscard]] double busy_seconds() const { return busy_seconds_; }
  [[nodiscard]] double ahead_seconds() const { return ahead_seconds_; }

 private:
  struct Task {
    std::shared_ptr<Job> job;
    Completion done;  // empty: nobody waits for it
    bool ahead = false;
    Clock::time_point started;
    bool written_off = false;
  };
  struct Ended {
    std::shared_ptr<Job> job;
    Ending ending;
  };

  void dispatch();
  void start(Task task);
  void work();  // what a thread does

  int workers_;
  int processors_;
  int written_off_ = 0;  // submitted and still running
  int submitted_ = 0;    // running, those written off as well
  double busy_seconds_ = 0.0;
  double ahead_seconds_ = 0.0;
  std::deque<Task> waiting_;
  std::deque<Task> running_;

  // Guards what is handed from thread to thread.
  std::mutex mutex_;
  std::condition_variable completion_;  // something has ended
  std::condition_variable wake_;        // something is to be started, or all is over
  std::deque<std::shared_ptr<Job>> starting_;
  std::deque<Ended> ended_;
  std::size_t resting_ = 0;  // threads with nothing to do
  bool over_ = false;
  std::vector<std::thread> threads_;  // made when they are needed
};

}  // namespace regraph
